package dev.recap

import kotlinx.serialization.Serializable
import kotlinx.serialization.json.*

/* Stored messages and streamed answers, as they are shown. */

private val ANSWER_STATES = mapOf(
    TurnState.QUEUED to MessageState.QUEUED,
    TurnState.RUNNING to MessageState.RUNNING,
    TurnState.AWAITING_TOOL to MessageState.WAITING,
    TurnState.DONE to MessageState.DONE,
    TurnState.FAILED to MessageState.FAILED,
    TurnState.CANCELLED to MessageState.STOPPED,
)

/** With what became of a call. */
private fun List<Part>.withTool(callId: String, change: (Part.Tool) -> Part.Tool): List<Part> =
    map { if (it is Part.Tool && it.callId == callId) change(it) else it }

/** What it gave; one that failed told the model why. */
private fun Part.Tool.withResponse(response: JsonObject): Part.Tool {
    val error = response.text("error").takeIf { response.keys == setOf("error") && it.isNotEmpty() }
    return if (error == null) copy(state = ToolState.DONE, output = response) else copy(state = ToolState.FAILED, error = error)
}

private fun shownParts(stored: StoredMessage): List<Part> {
    val parts = stored.parts.fold(emptyList<Part>()) { parts, part ->
        when (part.type) {
            "text" -> parts + Part.Text(part.text.orEmpty())
            "file" -> parts + Part.File(part.mediaType, part.name, part.uploadId, part.url, part.data)
            "functionCall" -> parts + Part.Tool(
                part.callId,
                part.name.orEmpty(),
                part.args ?: JsonObject(emptyMap()),
                ToolState.RUNNING,
                byService = part.providerExecuted,
            )
            "functionResponse" -> parts.withTool(part.callId) { it.withResponse(part.response ?: JsonObject(emptyMap())) }
            // A later version of the service may have more.
            else -> parts
        }
    }
    val asked = stored.openCalls.filter { it.wants == "approved" }
    return asked.fold(parts) { all, call -> all.withTool(call.callId) { it.copy(state = ToolState.APPROVAL) } } + stored.sources
}

internal fun toMessage(stored: StoredMessage) = Message(
    id = stored.id,
    role = stored.role,
    state = if (stored.role == Role.USER) MessageState.SENT else ANSWER_STATES.getValue(stored.state),
    parts = shownParts(stored),
    time = stored.createTime,
    seq = stored.seq,
    error = stored.error?.takeIf { stored.role == Role.MODEL }?.let { MessageError(it.reason, it.message, it.retryable) },
    finishReason = stored.finishReason,
    outOfContext = stored.outOfContext,
    isDeleted = stored.deleted,
    rating = stored.feedback?.rating,
)

/** An answer as its stream tells of it. */
@Serializable
internal data class LiveAnswer(
    val state: MessageState,
    /** By the ids that the stream gave them. */
    val parts: Map<String, Part> = emptyMap(),
    /** The last event that was read: where to go on. */
    val lastEventId: String? = null,
    val finishReason: String? = null,
    val error: MessageError? = null,
) {
    val isUnfinished get() = state == MessageState.QUEUED || state == MessageState.RUNNING

    fun toMessage(seq: Int, time: String) =
        Message("m_$seq", Role.MODEL, state, parts.values.toList(), time, seq, error, finishReason)

    /** The answer after one more event of its stream. */
    fun with(chunk: StreamChunk): LiveAnswer = when (chunk.type) {
        "start" -> {
            val shrunken = chunk.messageMetadata?.get("shrunken") as? JsonObject
            val begun = copy(state = MessageState.RUNNING)
            if (shrunken == null) begun else begun.withPart("shrunken", Part.Notice("shrunken", shrunken))
        }
        "text-start", "text-delta" -> {
            val text = (parts[chunk.id] as? Part.Text)?.text.orEmpty()
            withPart(chunk.id, Part.Text(text + chunk.delta))
        }
        "tool-input-available" -> withPart(
            chunk.toolCallId,
            Part.Tool(chunk.toolCallId, chunk.toolName, chunk.input, ToolState.RUNNING, byService = chunk.providerExecuted),
        )
        "tool-output-available" -> withTool(chunk.toolCallId) { it.copy(state = ToolState.DONE, output = chunk.output) }
        "tool-output-error" -> withTool(chunk.toolCallId) { it.copy(state = ToolState.FAILED, error = chunk.errorText) }
        "source-url" -> withPart(chunk.sourceId, Part.Source(chunk.url, chunk.title))
        "data-notice" -> withNotice(chunk.id, chunk.data ?: JsonObject(emptyMap()))
        "error" -> copy(error = MessageError("ANSWER_FAILED", chunk.errorText, isRetryable = true))
        "abort" -> copy(state = MessageState.STOPPED)
        "finish" -> copy(finishReason = chunk.finishReason, state = stateAfter(chunk.finishReason))
        // Also those of later versions of the service.
        else -> this
    }

    private fun withPart(id: String, part: Part) = copy(parts = parts + (id to part))

    private fun withTool(callId: String, change: (Part.Tool) -> Part.Tool) =
        (parts[callId] as? Part.Tool)?.let { withPart(callId, change(it)) } ?: this

    private fun withNotice(id: String, data: JsonObject): LiveAnswer = when (val kind = data.text("kind")) {
        "approval" -> withTool(data.text("callId")) { it.copy(state = ToolState.APPROVAL) }
        else -> {
            val dropped = if (kind == "restarted") data["dropParts"].texts() else emptyList()
            copy(parts = parts - dropped.toSet()).withPart(id, Part.Notice(kind, JsonObject(data - "kind")))
        }
    }

    private fun stateAfter(finishReason: String?) = when {
        finishReason == "tool-calls" -> MessageState.WAITING
        state == MessageState.STOPPED -> MessageState.STOPPED
        finishReason == "error" -> MessageState.FAILED
        else -> MessageState.DONE
    }
}

private fun JsonObject.text(name: String): String = (get(name) as? JsonPrimitive)?.contentOrNull.orEmpty()

private fun JsonElement?.texts(): List<String> = (this as? JsonArray).orEmpty().map { it.jsonPrimitive.content }
