package dev.recap

import java.io.File
import java.io.IOException
import java.time.Instant
import java.util.Base64
import java.util.concurrent.TimeUnit.MILLISECONDS
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.*
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.channels.trySendBlocking
import kotlinx.coroutines.flow.*
import kotlinx.serialization.json.*
import okhttp3.*
import okhttp3.Headers.Companion.toHeaders
import okhttp3.HttpUrl.Companion.toHttpUrl
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.MediaType.Companion.toMediaTypeOrNull
import okhttp3.RequestBody.Companion.asRequestBody
import okhttp3.RequestBody.Companion.toRequestBody
import okio.BufferedSink
import okio.ForwardingSink
import okio.buffer

/** Whose the store is. */
private const val USER_KEY = "user"
/** At a time: each open chat has one, and by itself OkHttp has five. */
private const val STREAMS_MAX = 64
private val JSON_TYPE = "application/json".toMediaType()

typealias Query = Map<String, Any?>

internal data class ServerEvent(val id: String?, val data: String) {
    /** What comes behind it is not waited for. */
    val isDone get() = data == "[DONE]"
}

/** A reply: its text, or of a stream that began its events. */
private class Reply(val code: Int, val headers: Headers, val text: String, val stream: EventStream?)

/** An event stream whose head has come. Whoever does not read it closes it. */
internal class EventStream(private val call: Call, private val response: Response) {
    /** 200, or 204: there is nothing to be read. */
    val code: Int = response.code
    /** Its turn, such as 17; null where it is of none. */
    val seq: Int? = response.header("x-turn-id")?.removePrefix("t_")?.toIntOrNull()

    fun close() {
        call.cancel()
        response.close()
    }

    /** Its events up to `[DONE]`, or to an end in good order; [RecapException] when it breaks. */
    val events: Flow<ServerEvent> = callbackFlow {
        launch(Dispatchers.IO) {
            try {
                response.use { readEvents { trySendBlocking(it) } }
                channel.close()
            } catch (error: IOException) {
                channel.close(offline(error))
            }
        }
        awaitClose { call.cancel() }
    }

    private fun readEvents(take: (ServerEvent) -> Unit) {
        val source = response.body?.source() ?: return
        var id: String? = null
        val data = mutableListOf<String>()
        while (true) {
            val line = source.readUtf8Line() ?: return
            val value = line.substringAfter(':', "").removePrefix(" ")
            when (line.substringBefore(':')) {
                "data" -> data += value
                "id" -> id = value
            }
            if (line.isNotEmpty()) continue
            val event = ServerEvent(id, data.joinToString("\n"))
            if (data.isNotEmpty()) take(event)
            if (event.isDone) return call.cancel()
            id = null
            data.clear()
        }
    }
}

/** A file that is sent; tells which share of it has gone, 0 to 1. */
private class CountedBody(private val file: RequestBody, private val onSent: (Double) -> Unit) : RequestBody() {
    override fun contentType() = file.contentType()
    override fun contentLength() = file.contentLength()

    override fun writeTo(sink: BufferedSink) {
        var sent = 0L
        val counting = object : ForwardingSink(sink) {
            override fun write(source: okio.Buffer, byteCount: Long) {
                super.write(source, byteCount)
                sent += byteCount
                onSent(sent.toDouble() / contentLength().coerceAtLeast(1))
            }
        }.buffer()
        file.writeTo(counting)
        counting.flush()
    }
}

/** Calls of the API with the user's token; one that the service takes for expired is renewed once. All throw [RecapException]. */
internal class Requester(
    private val options: RecapOptions,
    private val store: SafeStore,
    private val onOtherUser: (RecapException) -> Unit,
) {
    private val client = options.client.newBuilder()
        .dispatcher(Dispatcher().apply { maxRequestsPerHost = STREAMS_MAX })
        .build()
    private val calls = client.silentFor(options.timings.callMs)
    private val streams = client.silentFor(options.timings.silenceMs)
    private val uploads = client.silentFor(10 * options.timings.silenceMs)
    private val baseUrl = options.baseUrl.toHttpUrl().toString().removeSuffix("/")

    /** The clock of the service, before this device's. */
    @Volatile
    private var clockOffsetMs = 0L
    private var user: String? = null

    val nowMs: Long get() = System.currentTimeMillis() + clockOffsetMs
    /** ISO 8601. */
    val now: String get() = Instant.ofEpochMilli(nowMs).toString()

    fun close() = client.dispatcher.executorService.shutdown()

    suspend fun text(method: String, path: String, query: Query, body: JsonElement?): String =
        send(method, path, query, body?.toString(), isStream = false).text.ifEmpty { "null" }

    suspend inline fun <reified Result> call(
        method: String, path: String, query: Query = emptyMap(), body: JsonElement? = null,
    ): Result = decode(text(method, path, query, body))

    suspend inline fun <reified Result> read(path: String, query: Query = emptyMap()): Result = call("GET", path, query)

    suspend fun stream(method: String, path: String, query: Query = emptyMap(), body: String? = null): EventStream =
        send(method, path, query, body, isStream = true).stream ?: throw offline("a reply without a stream")

    /** Sends a file to the address that the service gave. */
    suspend fun put(file: RequestBody, target: UploadBegun, onSent: (Double) -> Unit) {
        val request = Request.Builder().url(target.url).headers(target.headers.toHeaders())
            .method(target.method, CountedBody(file, onSent)).build()
        val reply = uploads.newCall(request).reply(isStream = false)
        // 412: an earlier try has brought the file.
        if (reply.code >= 400 && reply.code != 412) throw readError(reply.code, reply.headers, reply.text)
    }

    /** The reply of the service, after one more try where the token has expired. */
    private suspend fun send(method: String, path: String, query: Query, body: String?, isStream: Boolean): Reply {
        val url = "$baseUrl$path".toHttpUrl().newBuilder()
        for ((name, value) in query) if (value != null) url.addQueryParameter(name, value.toString())
        // As bytes: a text would be given a charset in its type.
        val sent = body?.toByteArray()?.toRequestBody(JSON_TYPE) ?: EMPTY_BODY.takeIf { method in BODY_METHODS }
        val request = Request.Builder().url(url.build()).method(method, sent)
            .header("accept", if (isStream) "text/event-stream" else "application/json").build()
        var reply = attempt(request, isStream, isForced = false)
        if (reply.code == 401) reply = attempt(request, isStream, isForced = true)
        if (reply.code >= 400) throw readError(reply.code, reply.headers, reply.text)
        return reply
    }

    private suspend fun attempt(request: Request, isStream: Boolean, isForced: Boolean): Reply {
        val signed = request.newBuilder().header("authorization", "Bearer ${tokenOf(isForced)}")
        options.appCheckToken?.let { signed.header("x-firebase-appcheck", asking(it)) }
        val reply = (if (isStream) streams else calls).newCall(signed.build()).reply(isStream)
        reply.headers.getDate("date")?.let { clockOffsetMs = it.time - System.currentTimeMillis() }
        return reply
    }

    /** A token of the user whose store this is: nothing of one user is sent as another. */
    private suspend fun tokenOf(isForced: Boolean): String {
        val token = asking { options.idToken(isForced) }
        val asking = subjectOf(token) ?: return token
        if (asking == user) return token
        val kept = user ?: store.get(USER_KEY)
        user = user ?: kept ?: asking
        if (kept == null) store.set(USER_KEY, asking)
        if (user == asking) return token
        val message = "The store of this client belongs to another user. Give each user a store."
        throw RecapException(401, "STORE_OF_OTHER_USER", message).also(onOtherUser)
    }

    /** What a function of the app gives, which may block; what it throws, or gives too late, is as if there were no connection. */
    private suspend fun asking(function: suspend () -> String): String = try {
        withTimeout(options.timings.callMs) { withContext(Dispatchers.IO) { function() } }
    } catch (error: Exception) {
        currentCoroutineContext().ensureActive()
        throw offline(error)
    }

    /** Sends it; the head of a stream, or the whole of any other reply. */
    private suspend fun Call.reply(isStream: Boolean): Reply = suspendCancellableCoroutine { waiting ->
        waiting.invokeOnCancellation { cancel() }
        enqueue(
            object : Callback {
                override fun onFailure(call: Call, e: IOException) = waiting.resumeWithException(offline(e))

                override fun onResponse(call: Call, response: Response) {
                    val stream = if (isStream && response.code < 300) EventStream(call, response) else null
                    val reply = try {
                        val text = if (stream != null) "" else response.use { it.body?.string().orEmpty() }
                        Reply(response.code, response.headers, text, stream)
                    } catch (error: IOException) {
                        return waiting.resumeWithException(offline(error))
                    }
                    waiting.resume(reply) { _, _, _ -> call.cancel() }
                }
            },
        )
    }

    companion object {
        private val EMPTY_BODY = ByteArray(0).toRequestBody()
        private val BODY_METHODS = setOf("POST", "PUT", "PATCH")
    }
}

/** With connections that are lost when no byte comes for so long. */
private fun OkHttpClient.silentFor(ms: Long) = newBuilder().readTimeout(ms, MILLISECONDS).build()

/** The user that an ID token is of; null for anything else. */
private fun subjectOf(token: String): String? = try {
    val payload = Base64.getUrlDecoder().decode(token.split('.')[1]).decodeToString()
    (json.parseToJsonElement(payload) as JsonObject)["sub"]?.jsonPrimitive?.contentOrNull
} catch (_: Exception) {
    null
}

internal fun bodyOf(bytes: ByteArray, type: String) = bytes.toRequestBody(type.toMediaTypeOrNull())

internal fun bodyOf(file: File, type: String) = file.asRequestBody(type.toMediaTypeOrNull())
