package com.example.recap

import java.io.IOException
import java.net.URLEncoder
import java.util.Locale
import java.util.TimeZone
import java.util.concurrent.TimeUnit
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.channels.ProducerScope
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.flow.conflate
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.serialization.SerializationException
import kotlinx.serialization.Serializable
import kotlinx.serialization.encodeToString
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.decodeFromJsonElement
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import okhttp3.Response

/** An event of the stream; pass over types that you do not know. */
@Serializable
data class Chunk(
    val type: String,
    val id: String = "",
    val delta: String = "",
    val data: JsonElement? = null,
    val errorText: String? = null,
    val finishReason: String? = null,
    val messageMetadata: Metadata? = null,
    val toolCallId: String = "",
    val toolName: String = "",
    val input: JsonElement? = null,
    val providerExecuted: Boolean = false,
) {
    @Serializable data class Metadata(val turnId: String? = null)

    @Serializable data class Notice(val dropParts: List<String> = emptyList())

    @Serializable data class Title(val title: String)
}

/** How full the context is; `compaction.message` is a sentence for the user. */
@Serializable
data class ContextStatus(
    val tokens: Int,
    val thresholdTokens: Int? = null,
    val percent: Double,
    val generation: Int,
    val compaction: Compaction? = null,
) {
    @Serializable data class Compaction(val state: String, val message: String? = null)
}

/** A function of the app that the model calls. */
data class ToolCall(val id: String, val name: String, val input: JsonElement?)

/** What it gave, or in `error` why it gave nothing. */
@Serializable
data class ToolResult(val callId: String, val output: JsonElement? = null, val error: String? = null)

/** An answer while it grows: texts of its parts by their ids, in the order in which they came. */
data class Answer(
    val parts: Map<String, String> = emptyMap(),
    val turnId: String? = null,
    /** Calls that wait for `giveResults`, once `finishReason` is "tool-calls". */
    val calls: List<ToolCall> = emptyList(),
    val context: ContextStatus? = null,
    val title: String? = null,
    val finishReason: String? = null,
    val errorText: String? = null,
    /** Somebody stopped the answer: its text is not whole. */
    val isStopped: Boolean = false,
) {
    val text: String get() = parts.values.joinToString("")

    fun with(chunk: Chunk): Answer = when (chunk.type) {
        "start" ->
            copy(turnId = chunk.messageMetadata?.turnId, finishReason = null, errorText = null, isStopped = false)
        "data-notice" -> copy(parts = parts - chunk.dataAs<Chunk.Notice>()?.dropParts.orEmpty().toSet())
        "text-start" -> copy(parts = parts + (chunk.id to ""))
        "text-delta" -> copy(parts = parts + (chunk.id to parts[chunk.id].orEmpty() + chunk.delta))
        "tool-input-available" ->
            if (chunk.providerExecuted) this // a function of the server
            else copy(calls = withoutCall(chunk) + ToolCall(chunk.toolCallId, chunk.toolName, chunk.input))
        "tool-output-available", "tool-output-error" -> copy(calls = withoutCall(chunk))
        "data-title" -> copy(title = chunk.dataAs<Chunk.Title>()?.title)
        "data-context" -> copy(context = chunk.dataAs<ContextStatus>())
        "abort" -> copy(isStopped = true)
        "error" -> copy(errorText = chunk.errorText)
        "finish" -> copy(finishReason = chunk.finishReason)
        else -> this
    }

    private fun withoutCall(chunk: Chunk) = calls.filter { it.id != chunk.toolCallId }

    private inline fun <reified T> Chunk.dataAs(): T? = data?.let { json.decodeFromJsonElement<T>(it) }
}

/** The body of every refusal (AIP-193): decide by `reason`, show `message`. */
@Serializable
data class ErrorBody(val error: Status) {
    @Serializable
    data class Status(
        val code: Int,
        val status: String,
        val message: String,
        val details: List<Detail> = emptyList(),
    )

    @Serializable
    data class Detail(val reason: String? = null, val metadata: Map<String, String> = emptyMap())
}

class RecapException(
    val code: Int,
    val body: ErrorBody?,
    val retryAfter: Duration?,
    /** Nothing to wait for, such as a quota that is back tomorrow: tell the user. */
    val isFinal: Boolean,
) : Exception(body?.error?.message ?: "HTTP $code") {
    val reason: String? get() = body?.error?.details?.firstOrNull()?.reason
}

/** Store it before the first try, with both ids, and delete it when the answer is there. */
@Serializable
data class OutgoingMessage(
    val conversationId: String,
    val messageId: String,
    val text: String,
    val files: List<Part> = emptyList(),
    /** While another message is being answered: "queue" or "interrupt"; by itself this one is refused. */
    val onBusy: String? = null,
)

/** Of a message: a text, an uploaded file, or a small one whole (`mediaType` and `data`, in base64). */
@Serializable
data class Part(
    val type: String,
    val text: String? = null,
    val uploadId: String? = null,
    val mediaType: String? = null,
    val data: String? = null,
)

@Serializable
data class Conversation(val id: String, val title: String? = null)

@Serializable
data class LastMessage(val seq: Int, val role: String, val preview: String? = null)

/** A row of the list. `state`: "idle", "running", "waiting" (for the app) or "failed". */
@Serializable
data class ConversationRow(
    val id: String,
    val title: String? = null,
    val state: String,
    val lastMessage: LastMessage? = null,
    val unreadCount: Int,
    val activeTime: String,
)

/** Go on with `nextPageToken`, while there is one. */
@Serializable
data class ConversationPage(val conversations: List<ConversationRow>, val nextPageToken: String? = null)

/** `role`: "user" or "model". `inContext`: false where another message took its place. */
@Serializable
data class StoredMessage(
    val id: String,
    val turnId: String,
    val seq: Int,
    val role: String,
    val parts: List<Part>,
    val state: String,
    val inContext: Boolean,
)

@Serializable
data class MessagePage(val messages: List<StoredMessage>, val nextPageToken: String? = null)

@Serializable private data class Message(val id: String, val parts: List<Part>)

/** What the model is told of the moment: date and time of the user come from it. */
@Serializable
private data class ClientContext(
    val timeZone: String = TimeZone.getDefault().id,
    val locale: String = Locale.getDefault().toLanguageTag(),
)

@Serializable
private data class Sending(val message: Message, val clientContext: ClientContext, val onBusy: String?)

@Serializable private data class Regenerating(val id: String, val clientContext: ClientContext)

@Serializable private data class Renaming(val title: String)

@Serializable private data class Rating(val rating: String)

@Serializable private data class Uploading(val mimeType: String, val sizeBytes: Int, val name: String?)

@Serializable
private data class Upload(val uploadId: String, val url: String, val method: String, val headers: Map<String, String>)

@Serializable private data class Giving(val results: List<ToolResult>)

private val json = Json { ignoreUnknownKeys = true }
// The zone and the locale are defaults, and are to be sent all the same; what is null is not.
private val sent = Json { encodeDefaults = true; explicitNulls = false }

/**
 * Suspending sources of the two tokens; `idToken(true)` gives a new one, `appCheckToken` null where the service demands
 * none.
 */
class Recap(
    private val baseUrl: String,
    client: OkHttpClient,
    private val idToken: suspend (renew: Boolean) -> String,
    private val appCheckToken: suspend () -> String? = { null },
) {
    // Heartbeats come every 8 s: OkHttp's 10 s would take a slow network for a dead one.
    private val client = client.newBuilder()
        .readTimeout(30, TimeUnit.SECONDS)
        .callTimeout(0, TimeUnit.SECONDS)
        .build()

    /** The answer after each event. Cancelling the collector stops reading, not the answer. */
    fun send(message: OutgoingMessage): Flow<Answer> = sendTo("/messages", message)

    /** Says something else in place of the user's message `replaced`; that and all after it leave the context. */
    fun edit(replaced: String, message: OutgoingMessage): Flow<Answer> = sendTo("/messages/$replaced:edit", message)

    /** Answers the last message anew, named by its id. `id`: a UUID, drawn before the first try. */
    fun regenerate(conversationId: String, messageId: String, id: String): Flow<Answer> {
        val body = sent.encodeToString(Regenerating(id, ClientContext()))
        return answers(Asking(conversationId, "/messages/$messageId:regenerate", body), Answer())
    }

    private fun sendTo(path: String, message: OutgoingMessage): Flow<Answer> {
        val parts = listOf(Part("text", message.text)) + message.files
        val sending = Sending(Message(message.messageId, parts), ClientContext(), message.onBusy)
        val body = sent.encodeToString(sending)
        return answers(Asking(message.conversationId, path, body), Answer())
    }

    /** Gives what the app's functions returned, to all of `answer.calls`; the answer goes on. */
    fun giveResults(conversationId: String, answer: Answer, results: List<ToolResult>): Flow<Answer> {
        val body = sent.encodeToString(Giving(results))
        return answers(Asking(conversationId, "/turns/${answer.turnId}/toolResults", body), answer)
    }

    private fun answers(asking: Asking, from: Answer): Flow<Answer> =
        channelFlow { follow(asking, Reading(from)) }.conflate().flowOn(Dispatchers.IO)

    /** Any other call, such as `("POST", "/turns/t_1:cancel")`, on a conversation or on none; the JSON that it answers. */
    suspend fun call(method: String, path: String, conversationId: String? = null, body: String? = null): String =
        withContext(Dispatchers.IO) {
            val root = if (conversationId == null) "" else "/conversations/$conversationId"
            val sent = if (method == "GET") null else body.orEmpty().toRequestBody(body?.let { JSON })
            withToken { renew -> execute(requestOf(root + path, renew).method(method, sent).build()) }
        }

    /** Does it once more with a new ID token where the last one has expired. */
    private suspend fun <T> withToken(work: suspend (renew: Boolean) -> T): T = try {
        work(false)
    } catch (failure: RecapException) {
        if (failure.reason == "ID_TOKEN_EXPIRED") work(true) else throw failure
    }

    private fun pageQuery(pageToken: String?) =
        if (pageToken == null) "" else "?pageToken=${URLEncoder.encode(pageToken, "UTF-8")}"

    /** The newest first. */
    suspend fun listConversations(pageToken: String? = null): ConversationPage =
        json.decodeFromString(call("GET", "/conversations${pageQuery(pageToken)}"))

    /** The oldest first, replaced ones too. */
    suspend fun listMessages(conversationId: String, pageToken: String? = null): MessagePage =
        json.decodeFromString(call("GET", "/messages${pageQuery(pageToken)}", conversationId))

    suspend fun rename(conversationId: String, title: String) {
        call("PATCH", "", conversationId, sent.encodeToString(Renaming(title)))
    }

    /** Of an answer (`m_1`): "up" or "down"; again, it takes the place of what was said before. */
    suspend fun rate(conversationId: String, messageId: String, rating: String) {
        call("PUT", "/messages/$messageId/feedback", conversationId, sent.encodeToString(Rating(rating)))
    }

    /** Up to 20 MB; a part to keep with the message. */
    suspend fun upload(bytes: ByteArray, mimeType: String, name: String? = null): Part {
        val begun = call("POST", "/uploads", body = sent.encodeToString(Uploading(mimeType, bytes.size, name)))
        val upload = json.decodeFromString<Upload>(begun)
        val request = Request.Builder().url(upload.url).method(upload.method, bytes.toRequestBody())
        upload.headers.forEach { (header, value) -> request.header(header, value) }
        try {
            withContext(Dispatchers.IO) { execute(request.build()) }
        } catch (failure: RecapException) {
            if (failure.code != 412) throw failure // 412: an earlier try has brought the file
        }
        return Part("file", uploadId = upload.uploadId)
    }

    private fun execute(request: Request): String = client.newCall(request).execute().use { response ->
        if (!response.isSuccessful) throw refusal(response)
        response.body!!.string()
    }

    /** What is sent in each try: the same. */
    private class Asking(val conversationId: String, val path: String, val body: String)

    private class Reading(var answer: Answer, var cursor: String? = null)

    private suspend fun ProducerScope<Answer>.follow(asking: Asking, reading: Reading) {
        var failures = 0
        while (true) {
            val before = reading.cursor
            try {
                return withToken { renew -> read(asking, reading, renew) }
            } catch (failure: Exception) {
                ensureActive()
                if (reading.cursor != before) failures = 0
                val wait = waitAfter(failure, failures)
                if (wait == null || failures == MAX_FAILURES) throw failure
                failures += 1
                delay(wait)
            }
        }
    }

    /** null: the same again would give the same. */
    private fun waitAfter(failure: Exception, failures: Int): Duration? {
        val backOff = minOf(30, 1 shl failures).seconds
        return when {
            failure is IOException -> backOff
            failure is RecapException && failure.code in WORTH_RETRYING && !failure.isFinal ->
                failure.retryAfter ?: backOff
            else -> null
        }
    }

    private suspend fun ProducerScope<Answer>.read(asking: Asking, reading: Reading, renew: Boolean) = coroutineScope {
        val request = requestOf("/conversations/${asking.conversationId}${asking.path}", renew)
            .header("Accept", "text/event-stream")
            .apply { reading.cursor?.let { header("Last-Event-ID", it) } }
            .post(asking.body.toRequestBody(JSON))
            .build()
        val call = client.newCall(request)
        // A read that blocks does not notice that its coroutine was cancelled.
        val watch = launch { try { awaitCancellation() } finally { call.cancel() } }
        try {
            call.execute().use { response ->
                if (!response.isSuccessful) throw refusal(response)
                readEvents(response, reading)
            }
        } finally {
            watch.cancel()
        }
    }

    private suspend fun ProducerScope<Answer>.readEvents(response: Response, reading: Reading) {
        val source = response.body!!.source()
        var id: String? = null
        while (true) {
            val line = source.readUtf8Line() ?: throw IOException("cut: an end without [DONE]")
            if (line.startsWith("id: ")) id = line.substring(4)
            if (!line.startsWith("data: ")) continue
            val data = line.substring(6)
            if (data == "[DONE]") return
            reading.answer = reading.answer.with(json.decodeFromString<Chunk>(data))
            reading.cursor = id ?: reading.cursor
            send(reading.answer)
        }
    }

    private suspend fun requestOf(path: String, renew: Boolean) = Request.Builder()
        .url("$baseUrl/v1$path")
        .header("Authorization", "Bearer ${idToken(renew)}")
        .apply { appCheckToken()?.let { header("X-Firebase-AppCheck", it) } }

    /** What is no answer of the API, a page of a proxy in between, has its HTTP code alone. */
    private fun refusal(response: Response): RecapException {
        val body = try {
            json.decodeFromString<ErrorBody>(response.body!!.string())
        } catch (notOurs: SerializationException) {
            null
        }
        val retryAfter = response.header("Retry-After")?.toIntOrNull()?.seconds
        return RecapException(response.code, body, retryAfter, response.header("x-should-retry") == "false")
    }

    private companion object {
        val JSON = "application/json".toMediaType()
        val WORTH_RETRYING = setOf(429, 502, 503, 504)
        const val MAX_FAILURES = 8
    }
}
