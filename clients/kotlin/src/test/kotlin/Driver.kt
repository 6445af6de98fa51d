package dev.recap.conformance

import com.sun.net.httpserver.HttpServer
import dev.recap.*
import java.io.File
import java.io.IOException
import java.net.InetSocketAddress
import java.util.Base64
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.atomic.AtomicInteger
import kotlin.system.exitProcess
import kotlinx.coroutines.*
import kotlinx.coroutines.flow.*
import kotlinx.serialization.json.*
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody

/* A client of the conformance suite: does what the judge says, and tells it what is shown. clients/conformance/README.md */

private val json = Json {
    encodeDefaults = true
    explicitNulls = false
}

private fun JsonObject.text(name: String): String? = (this[name] as? JsonPrimitive)?.content

private fun JsonElement?.orEmpty(): JsonObject = this as? JsonObject ?: JsonObject(emptyMap())

private fun errorOf(error: Throwable) = buildJsonObject {
    put("reason", (error as? RecapException)?.reason ?: "NOT_A_RECAP_ERROR")
    put("code", (error as? RecapException)?.code ?: -1)
    put("message", error.message ?: error.toString())
}

private fun withProblem(state: JsonElement, problem: RecapException?): JsonObject =
    JsonObject(state.jsonObject + (problem?.let { mapOf("problem" to errorOf(it)) } ?: emptyMap()))

/** As one whose disk is full, or whose table is broken. */
private object RefusingStore : RecapStore {
    private fun refuse(): Nothing = throw IllegalStateException("database is locked")
    override suspend fun get(key: String) = refuse()
    override suspend fun set(key: String, value: String) = refuse()
    override suspend fun delete(key: String) = refuse()
    override suspend fun keys(prefix: String) = refuse()
}

private class Driver(private val control: String, private val folder: File, private val scope: CoroutineScope) {
    private val http = OkHttpClient.Builder().readTimeout(60, SECONDS).build()
    private var recap: Recap? = null
    private val chats = mutableMapOf<String, Chat>()
    /** What is collected, as an app does: chats by id, and lists. */
    private val shown = mutableMapOf<Any, Job>()

    private val current: Recap get() = recap ?: error("there is no client")

    private suspend fun ask(path: String, body: String? = null): JsonObject? = withContext(Dispatchers.IO) {
        val request = Request.Builder().url(control + path)
        if (body != null) request.post(body.toRequestBody())
        http.newCall(request.build()).execute().use { reply ->
            if (reply.code == 204) return@use null
            if (!reply.isSuccessful) throw IOException("HTTP ${reply.code}")
            json.parseToJsonElement(reply.body!!.string()).jsonObject
        }
    }

    suspend fun run() {
        while (true) {
            val command = ask("/next") ?: continue
            scope.launch(Dispatchers.Unconfined) { answer(command) }
        }
    }

    private suspend fun answer(command: JsonObject) {
        val id = command.getValue("id")
        val outcome = try {
            val result = perform(command.text("name").orEmpty(), command.text("chat").orEmpty(), command["value"] ?: JsonNull)
            mapOf("id" to id, "result" to result)
        } catch (error: Exception) {
            if (error !is RecapException) error.printStackTrace()
            mapOf("id" to id, "error" to errorOf(error))
        }
        ask("/done", JsonObject(outcome).toString())
    }

    private fun create(given: JsonObject) {
        close()
        recap = Recap(
            baseUrl = given.text("baseUrl").orEmpty(),
            idToken = { force -> ask("/token?force=$force")?.text("token").orEmpty() },
            store = storeOf(given.text("store")),
            appCheckToken = given.text("appCheck")?.let { token -> { token } },
            tools = given["tools"].orEmpty().mapValues { (_, script) -> toolOf(script.jsonObject) },
            clientContext = { given["context"].orEmpty() },
            timings = json.decodeFromJsonElement(given.getValue("timings")),
        )
    }

    private fun storeOf(name: String?): RecapStore =
        if (name.orEmpty().endsWith("refuses")) RefusingStore else FileStore(File(folder, name.orEmpty()))

    private fun toolOf(script: JsonObject): Tool {
        val runs = AtomicInteger()
        val met = CompletableDeferred<Unit>()
        return Tool { _, _ ->
            script.text("throws")?.let { throw IllegalStateException(it) }
            val run = runs.incrementAndGet()
            script["meets"]?.jsonPrimitive?.int?.let { count ->
                if (run == count) met.complete(Unit)
                met.await()
                return@Tool buildJsonObject { put("runs", count) }
            }
            script["returns"] ?: buildJsonObject { put("runs", run) }
        }
    }

    private fun close() {
        shown.values.forEach { it.cancel() }
        recap?.close()
        recap = null
        chats.clear()
        shown.clear()
    }

    private fun show(what: Any, state: Flow<*>) {
        shown[what] = scope.launch(Dispatchers.Unconfined) { state.collect {} }
    }

    private fun chatOf(id: String) = chats.getOrPut(id) { current.chat(id) }

    private fun inputsOf(value: JsonElement): Pair<List<Part>, SendOptions> {
        if (value is JsonPrimitive) return listOf(Part.Text(value.content)) to SendOptions()
        val given = value.jsonObject
        val parts = given["parts"]?.let { json.decodeFromJsonElement<List<Part>>(it) }
            ?: listOfNotNull(given.text("text")?.let { Part.Text(it) })
        val files = (given["files"] as? JsonArray ?: JsonArray(emptyList())).map { it.jsonObject }.map { file ->
            FileInput(Base64.getDecoder().decode(file.text("base64")), file.text("type").orEmpty(), file.text("name"))
        }
        return parts to SendOptions(
            files,
            given.text("onBusy")?.let { OnBusy.valueOf(it.uppercase()) },
            given["context"].orEmpty(),
            given.text("retention")?.let { MessageRetention.valueOf(it.uppercase()) },
            given["responseSchema"]?.jsonObject,
        )
    }

    private suspend fun perform(name: String, chatId: String, value: JsonElement): JsonElement {
        val result: Any? = when (name) {
            "create" -> create(value.jsonObject)
            "close" -> close()
            "newChat" -> current.chat().also { chats[it.id] = it }.id
            "openList", "leaveList", "rows", "loadMore" -> performOnList(name, listNameOf(value))
            "search" -> return json.encodeToJsonElement<SearchResult>(current.search(value.jsonPrimitive.content))
            "claim" -> return buildJsonObject {
                val given = value.jsonObject
                put("conversations", current.claim(given.text("guestToken").orEmpty(), storeOf(given.text("guestStore"))))
            }
            "register" -> value.jsonObject.let { given ->
                current.push.register(given.text("token").orEmpty(), given.text("platform").orEmpty(), given.text("locale"))
            }
            "unregister" -> current.push.unregister()
            "pendingCount" -> JsonPrimitive(current.pendingCount.first())
            "setActive" -> current.setActive(value.jsonPrimitive.boolean)
            else -> performOnChat(name, chatId, value)
        }
        return when (result) {
            is JsonElement -> result
            is String -> JsonPrimitive(result)
            is Boolean -> JsonPrimitive(result)
            else -> JsonNull
        }
    }

    private fun listNameOf(value: JsonElement) = ListName.valueOf(value.jsonPrimitive.content.uppercase())

    private suspend fun performOnList(name: String, listName: ListName): Any? {
        val list = current.list(listName)
        return when (name) {
            "openList" -> show(listName, list.state)
            "leaveList" -> shown[listName]?.cancel()
            "rows" -> list.state.value.let { withProblem(json.encodeToJsonElement(it), it.problem) }
            else -> list.loadMore()
        }
    }

    private suspend fun performOnChat(name: String, id: String, value: JsonElement): Any? {
        val chat = chatOf(id)
        val given = value as? JsonObject ?: JsonObject(emptyMap())
        val text = (value as? JsonPrimitive)?.content.orEmpty()
        return when (name) {
            "open" -> show(id, chat.state)
            "leave" -> shown[id]?.cancel()
            "state" -> chat.state.value.let { withProblem(json.encodeToJsonElement(it), it.problem) }
            "send" -> inputsOf(value).let { (parts, options) -> chat.send(parts, options) }
            "edit" -> inputsOf(value).let { (parts, options) -> chat.edit(given.text("message").orEmpty(), parts, options) }
            "regenerate" -> chat.regenerate()
            "retry" -> chat.retry(text)
            "discard" -> chat.discard(text)
            "stop" -> chat.stop()
            "loadOlder" -> chat.loadOlder(value.jsonPrimitive.int)
            "loadNewer" -> chat.loadNewer(value.jsonPrimitive.int)
            "loadAround" -> chat.loadAround(value.jsonPrimitive.int)
            "markRead" -> chat.markRead(text.toIntOrNull())
            "approve" -> chat.approve(given.text("call").orEmpty(), given.text("isAllowed").toBoolean())
            "refresh" -> chat.refresh()
            "rename" -> chat.rename(text)
            "archive" -> chat.archive(value.jsonPrimitive.boolean)
            "pin" -> chat.pin(value.jsonPrimitive.boolean)
            "remove" -> chat.remove()
            "undelete" -> chat.undelete()
            "deleteMessage" -> chat.deleteMessage(text)
            "rate" -> chat.rate(given.text("message").orEmpty(), Rating.valueOf(given.text("rating").orEmpty().uppercase()))
            else -> error("no command is named $name")
        }
    }
}

/**
 * Sends a message to a service that answers every request in the same way. The classes that are loaded then are archived, and
 * the processes of a run start in a third of the time.
 */
private fun rehearse(): Unit = runBlocking {
    val server = HttpServer.create(InetSocketAddress("127.0.0.1", 0), 0)
    server.createContext("/") { exchange ->
        val events = "id: 1\ndata: {\"type\":\"start\"}\n\ndata: [DONE]\n\n".toByteArray()
        val isMessage = exchange.requestMethod == "POST"
        exchange.responseHeaders.add("x-turn-id", "t_1")
        exchange.sendResponseHeaders(if (isMessage) 200 else 404, events.size.toLong())
        exchange.responseBody.use { it.write(events) }
    }
    server.start()
    val recap = Recap("http://127.0.0.1:${server.address.port}", { "token" }, MemoryStore())
    val chat = recap.chat()
    chat.send("Hello")
    chat.state.onEach { json.encodeToString(it) }.first { state -> state.messages.any { it.state == MessageState.SENT } }
    exitProcess(0)
}

/** Does what the judge says until it is killed. The address of the judge comes on stdin: a process may wait for its use. */
fun main(arguments: Array<String>) {
    println("ready")
    val control = readlnOrNull() ?: return rehearse()
    runBlocking { Driver(control, File(arguments.first()), CoroutineScope(Dispatchers.Default)).run() }
}
