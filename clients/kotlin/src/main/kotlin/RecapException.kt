package dev.recap

import java.io.IOException
import kotlinx.serialization.*
import okhttp3.Headers

/** Codes after which the same request may go through. */
private val PASSING_CODES = setOf(0, 401, 408, 500, 502, 503, 504)

/** Why a call has no answer: decide by [reason], show [message]. */
class RecapException internal constructor(
    /** HTTP code; 0: no connection. */
    val code: Int,
    /** UPPER_SNAKE: docs/reference/errors.md; `OFFLINE` without a connection. */
    val reason: String,
    override val message: String,
    isFinal: Boolean = false,
    /** How long the service asks to be left alone. */
    val retryAfterMs: Long? = null,
    /** Of a limit of the day: when it is over. */
    val resetTime: String? = null,
    cause: Throwable? = null,
) : IOException(message, cause) {
    /** Whether the same may go through after a pause of seconds. */
    val isPassing: Boolean = code in PASSING_CODES || (code == 429 && !isFinal)

    internal fun toMessageError() =
        MessageError(reason, message, isRetryable = code == 429 || reason == "TURN_IN_PROGRESS", resetTime)
}

/** No answer came: no network, a server that is not there, or a connection that broke. */
internal fun offline(cause: Throwable): RecapException =
    cause as? RecapException ?: RecapException(0, "OFFLINE", "No connection.", cause = cause)

internal fun offline(why: String) = offline(IOException(why))

/** What fails is told by the state, or is tried again. */
internal inline fun quietly(work: () -> Unit) = try {
    work()
} catch (_: RecapException) {
}

@Serializable
private data class ErrorBody(val error: Error = Error()) {
    @Serializable
    data class Error(val message: String? = null, val details: List<Detail> = emptyList())

    @Serializable
    data class Detail(
        val reason: String? = null,
        val metadata: Map<String, String>? = null,
        val retryDelay: String? = null,
    )
}

private fun millisOf(seconds: String?): Long? =
    seconds?.removeSuffix("s")?.toDoubleOrNull()?.let { (it * 1_000).toLong() }

/** The error that a reply tells of, whoever wrote it. */
internal fun readError(code: Int, headers: Headers, text: String): RecapException {
    val error = try {
        json.decodeFromString<ErrorBody>(text).error
    } catch (_: SerializationException) {
        // A proxy in between answers in HTML.
        ErrorBody.Error()
    }
    val metadata = error.details.firstNotNullOfOrNull { it.metadata }.orEmpty()
    return RecapException(
        code,
        reason = error.details.firstNotNullOfOrNull { it.reason } ?: "HTTP_$code",
        message = error.message ?: "HTTP $code",
        isFinal = headers["x-should-retry"] == "false" || metadata["final"] == "true",
        retryAfterMs = millisOf(headers["retry-after"]) ?: millisOf(error.details.firstNotNullOfOrNull { it.retryDelay }),
        resetTime = metadata["resetTime"],
    )
}
