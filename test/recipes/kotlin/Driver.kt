package com.example.recap

import java.util.Base64
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.last
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.Serializable
import kotlinx.serialization.encodeToString
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.encodeToJsonElement
import okhttp3.OkHttpClient

/** What a test asks of the recipe, one a line on standard input; fields that an operation does not need are absent. */
@Serializable
private data class Command(
    val id: Int,
    val operation: String,
    val baseUrl: String,
    val token: String,
    val renewedToken: String = "",
    val appCheckToken: String? = null,
    val onBusy: String? = null,
    val conversationId: String = "",
    val messageId: String = "",
    val text: String = "",
    val files: List<Part> = emptyList(),
    val newId: String = "",
    val turnId: String = "",
    val results: List<ToolResult> = emptyList(),
    val bytes: String = "",
    val mimeType: String = "",
)

/** One a line on standard output: `shown` after each event, then `result` or `error`. */
@Serializable
private data class Line(
    val id: Int,
    val shown: String? = null,
    val result: JsonElement? = null,
    val error: Failure? = null,
)

@Serializable private data class Failure(val kind: String, val reason: String?, val message: String?)

@Serializable private data class Call(val id: String, val name: String, val input: JsonElement?)

@Serializable
private data class Shown(
    val text: String,
    val turnId: String?,
    val finishReason: String?,
    val errorText: String?,
    val isStopped: Boolean,
    val hasContext: Boolean,
    val calls: List<Call>,
)

private val lines = Json { encodeDefaults = false }
private val client = OkHttpClient()
/** Answers that wait for results, by their turn. */
private val waiting = mutableMapOf<String, Answer>()

private fun say(line: Line) = synchronized(lines) { println(lines.encodeToString(line)) }

private suspend fun Flow<Answer>.show(id: Int): JsonElement {
    val answer = onEach { say(Line(id, shown = it.text)) }.last()
    answer.turnId?.let { waiting[it] = answer }
    val calls = answer.calls.map { Call(it.id, it.name, it.input) }
    return lines.encodeToJsonElement(
        Shown(
            answer.text, answer.turnId, answer.finishReason, answer.errorText, answer.isStopped, answer.context != null,
            calls,
        ),
    )
}

private suspend fun perform(command: Command): JsonElement = with(command) {
    val recap = Recap(baseUrl, client, { renew -> if (renew) renewedToken else token }, { appCheckToken })
    val message = OutgoingMessage(conversationId, newId, text, files, onBusy)
    when (operation) {
        "send" -> recap.send(message).show(id)
        "edit" -> recap.edit(messageId, message).show(id)
        "regenerate" -> recap.regenerate(conversationId, messageId, newId).show(id)
        "giveResults" -> recap.giveResults(conversationId, waiting.getValue(turnId), results).show(id)
        "listConversations" -> lines.encodeToJsonElement(recap.listConversations())
        "listMessages" -> lines.encodeToJsonElement(recap.listMessages(conversationId))
        "rename" -> JsonNull.also { recap.rename(conversationId, text) }
        "rate" -> JsonNull.also { recap.rate(conversationId, messageId, text) }
        "upload" -> lines.encodeToJsonElement(recap.upload(Base64.getDecoder().decode(bytes), mimeType))
        "stop" -> JsonNull.also { recap.call("POST", "/turns/$turnId:cancel", conversationId) }
        else -> error("no such operation: $operation")
    }
}

fun main() = runBlocking(Dispatchers.IO) {
    for (line in generateSequence(::readLine)) {
        val command = lines.decodeFromString<Command>(line)
        launch {
            try {
                say(Line(command.id, result = perform(command)))
            } catch (failure: Exception) {
                val reason = (failure as? RecapException)?.reason
                say(Line(command.id, error = Failure(failure.javaClass.simpleName, reason, failure.message)))
            }
        }
    }
}
