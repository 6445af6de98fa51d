package dev.recap

import kotlinx.serialization.*
import kotlinx.serialization.json.*

/* What goes over the wire, as docs/reference/api.md has it. Later versions of the service may have more. */

internal val json = Json {
    ignoreUnknownKeys = true
    explicitNulls = false
    coerceInputValues = true
}

/** Throws [RecapException] where it is not what was asked for, such as a page of a hotel. */
internal inline fun <reified Value> decode(text: String): Value = try {
    json.decodeFromString<Value>(text)
} catch (error: IllegalArgumentException) {
    throw offline(error)
}

/** Fields that are null are left out. */
internal fun jsonOf(vararg fields: Pair<String, Any?>) = buildJsonObject {
    for ((name, value) in fields)
        when (value) {
            null -> continue
            is JsonElement -> put(name, value)
            is Number -> put(name, value)
            is Boolean -> put(name, value)
            else -> put(name, value.toString())
        }
}

@Serializable
internal enum class TurnState {
    @SerialName("queued") QUEUED,
    @SerialName("running") RUNNING,
    @SerialName("awaiting_tool") AWAITING_TOOL,
    @SerialName("done") DONE,
    @SerialName("failed") FAILED,
    @SerialName("cancelled") CANCELLED,
}

/** A part of a stored message: `text`, `file`, `functionCall` or `functionResponse`. */
@Serializable
internal data class StoredPart(
    val type: String,
    val text: String? = null,
    val mediaType: String? = null,
    val data: String? = null,
    val url: String? = null,
    val uploadId: String? = null,
    val name: String? = null,
    val callId: String = "",
    val args: JsonObject? = null,
    val response: JsonObject? = null,
    val providerExecuted: Boolean = false,
)

@Serializable
internal data class StoredMessage(
    val id: String,
    val seq: Int,
    val role: Role,
    val parts: List<StoredPart> = emptyList(),
    val state: TurnState = TurnState.DONE,
    val createTime: String,
    val finishReason: String? = null,
    val outOfContext: OutOfContext? = null,
    val replaces: Int? = null,
    val sources: List<Part.Source> = emptyList(),
    val deleted: Boolean = false,
    val feedback: Feedback? = null,
    /** Of an answer that waits: what for. */
    val openCalls: List<OpenCall> = emptyList(),
    /** Of a turn that failed: why. */
    val error: Error? = null,
) {
    @Serializable
    data class Feedback(val rating: Rating)

    @Serializable
    data class OpenCall(
        val callId: String,
        val name: String,
        val args: JsonObject = JsonObject(emptyMap()),
        /** `output`, or `approved`. */
        val wants: String,
    )

    @Serializable
    data class Error(val reason: String, val message: String, val retryable: Boolean = false)
}

@Serializable
internal data class MessagesPage(val messages: List<StoredMessage> = emptyList())

/** An event of an answer; which fields it has depends on its type. */
@Serializable
internal data class StreamChunk(
    val type: String,
    val id: String = "",
    val delta: String = "",
    val toolCallId: String = "",
    val toolName: String = "",
    val input: JsonElement = JsonNull,
    val output: JsonElement? = null,
    val errorText: String = "",
    val providerExecuted: Boolean = false,
    val sourceId: String = "",
    val url: String = "",
    val title: String? = null,
    val finishReason: String? = null,
    val messageMetadata: JsonObject? = null,
    val data: JsonObject? = null,
)

/** An event of the list: `conversation`, `gone`, `ready`, `reset`, `reconnect`. */
@Serializable
internal data class UserEvent(
    val type: String,
    val conversation: Row? = null,
    val erased: Erased? = null,
    val conversationId: String = "",
) {
    @Serializable
    data class Erased(val count: Int, val seqs: List<Int>)
}

@Serializable
internal data class ConversationsPage(val conversations: List<Row> = emptyList(), val nextPageToken: String? = null)

/** Of a conversation, what a chat shows. */
@Serializable
internal data class About(val title: String? = null, val context: ContextState? = null)

/** What the service says of an upload that begins. */
@Serializable
internal data class UploadBegun(
    val uploadId: String,
    val url: String,
    val method: String,
    val headers: Map<String, String> = emptyMap(),
)
