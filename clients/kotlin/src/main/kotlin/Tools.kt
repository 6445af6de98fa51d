package dev.recap

import kotlinx.coroutines.*
import kotlinx.serialization.json.*

/** Of an error of a tool, characters: what the API takes. */
private const val ERROR_MAX = 1_000

/** What a tool of the app is told beside its input. */
data class ToolCall(val conversationId: String, val callId: String)

/** Runs in the app; what it throws is told to the model. */
fun interface Tool {
    suspend fun run(input: JsonElement, call: ToolCall): JsonElement?
}

/** What a tool of the app gave; one that throws tells so. */
internal suspend fun runTool(tools: Map<String, Tool>, conversationId: String, call: StoredMessage.OpenCall): JsonObject = try {
    val tool = tools[call.name] ?: throw NoSuchElementException("This version of the app has no tool ${call.name}.")
    // It may block.
    val output = withContext(Dispatchers.IO) { tool.run(call.args, ToolCall(conversationId, call.callId)) }
    jsonOf("callId" to call.callId, "output" to (output ?: JsonNull))
} catch (error: Exception) {
    currentCoroutineContext().ensureActive()
    val message = error.message.orEmpty().take(ERROR_MAX).ifEmpty { "The tool failed." }
    jsonOf("callId" to call.callId, "error" to message)
}
