package dev.recap

import java.io.File
import java.time.Instant
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap
import kotlinx.coroutines.*
import kotlinx.coroutines.flow.*
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.*
import okhttp3.OkHttpClient

/** Chats that are kept, those that were opened last. */
private const val CHATS_KEPT = 50
private const val CHATS_KEY = "chats"
private const val DEVICE_KEY = "device"
private val UUID_SHAPE = Regex("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

/** A file of a message: bytes, which are kept, or a file of the device, which has to stay until it is sent. */
class FileInput private constructor(val mediaType: String, val name: String?, val bytes: ByteArray?, val file: File?) {
    constructor(bytes: ByteArray, mediaType: String, name: String? = null) : this(mediaType, name, bytes, null)

    constructor(file: File, mediaType: String, name: String? = file.name) : this(mediaType, name, null, file)

    internal fun described() = KeptFile(mediaType, name, file?.path)
}

internal class RecapOptions(
    val baseUrl: String,
    val idToken: suspend (force: Boolean) -> String,
    val appCheckToken: (suspend () -> String)?,
    val tools: Map<String, Tool>,
    val clientContext: () -> Map<String, JsonElement>,
    val client: OkHttpClient,
    val timings: Timings,
)

/** What all parts of a client use. */
internal class Core(val options: RecapOptions, givenStore: RecapStore) {
    val store = SafeStore(givenStore)
    /** All state of a client is touched on one thread at a time. */
    @OptIn(ExperimentalCoroutinesApi::class)
    private val dispatcher = Dispatchers.Default.limitedParallelism(1)
    val scope = CoroutineScope(SupervisorJob() + dispatcher)
    val life = Life(options.timings.backOffMs)
    val requester = Requester(options, store) {
        otherUser = it
        saver.stop()
        onOtherUser(it)
    }
    /** Since a token of another user came: nothing that was kept, or read before, is shown or written any more. */
    var otherUser: RecapException? = null
        private set
    lateinit var onOtherUser: (RecapException) -> Unit
    /** It outlives the client: what is typed is kept. */
    val lasting = CoroutineScope(SupervisorJob() + dispatcher)
    val saver = Saver(store, lasting)
}

/** The client of one signed-in user. It is safe to call from any thread. */
class Recap(
    /** Address of the function, e.g. `https://chat-abc.run.app`. */
    baseUrl: String,
    /** The user's Firebase ID token; a new one if `force`. */
    idToken: suspend (force: Boolean) -> String,
    /** Of this user alone. */
    store: RecapStore,
    /** Where the service demands App Check. */
    appCheckToken: (suspend () -> String)? = null,
    /** By name, as the conversation declares them. */
    tools: Map<String, Tool> = emptyMap(),
    /** Asked for with every message; what `send` is given goes before. */
    clientContext: () -> Map<String, JsonElement> = { emptyMap() },
    client: OkHttpClient = OkHttpClient(),
    timings: Timings = Timings(),
) : AutoCloseable {
    private val core =
        Core(RecapOptions(baseUrl, idToken, appCheckToken, tools, clientContext, client, timings), store)
    private val requester = core.requester
    private val chats = ConcurrentHashMap<String, Chat>()
    private val outbox = Outbox(core, ::entriesChanged) { entry, stream -> chat(entry.conversationId).taken(entry, stream) }
    private val inbox = Inbox(core, outbox, ::hear)
    private val pending = MutableStateFlow(0)
    private var keptChats = listOf<String>()
    private val keptLoaded = core.scope.launch { keptChats = core.store.read<List<String>>(CHATS_KEY).orEmpty() }

    init {
        core.onOtherUser = { error ->
            outbox.disown(error)
            countPending()
            inbox.changed()
            for (chat in chats.values) chat.reading.changed()
        }
        // They tell each other: all parts are there before the first begins.
        outbox.start()
        inbox.start()
    }

    val push = Push()
    /** Those that are neither archived nor in the bin. Read and followed while they are collected. */
    val conversations: Flow<List<Row>> get() = list().rows

    /** Messages that are not sent yet. */
    val pendingCount: Flow<Int> = flow {
        outbox.awaitLoaded()
        emitAll(pending)
    }

    fun list(name: ListName = ListName.ACTIVE): ConversationList = inbox.lists.getValue(name)

    /** Without an id: a new one, which begins with its first message. */
    fun chat(id: String = UUID.randomUUID().toString()): Chat {
        require(UUID_SHAPE.matches(id)) { "The id of a chat is a UUID, not $id" }
        return chats.computeIfAbsent(id.lowercase()) { Chat(it, this, core, outbox, inbox) }
    }

    suspend fun search(query: String, pageToken: String? = null): SearchResult = inClient {
        requester.read("/v1/users/me/search", mapOf("q" to query, "pageToken" to pageToken))
    }

    /** Moves all of a guest to this user, with what [guestStore] has not sent yet; returns how many conversations. */
    suspend fun claim(guestToken: String, guestStore: RecapStore? = null): Int = inClient {
        val claimed = requester.call<JsonObject>("POST", "/v1/users/me:claim", body = jsonOf("guestToken" to guestToken))
        guestStore?.let { outbox.takeOver(SafeStore(it)) }
        claimed.getValue("conversations").jsonPrimitive.int
    }

    /** Where a file can be read, for some minutes. */
    suspend fun fileUrl(uploadId: String): String = inClient {
        requester.read<JsonObject>("/v1/uploads/$uploadId").getValue("url").jsonPrimitive.content
    }

    /** Whether the app is in front. */
    fun setActive(isActive: Boolean) {
        core.life.isActive.value = isActive
        if (isActive) core.life.wake()
    }

    /** The device has a network again: what waits is tried at once. */
    fun wake() = core.life.wake()
    /** The clock of the service. */
    fun now(): Instant = Instant.ofEpochMilli(requester.nowMs)

    /** Any other call, such as `call("GET", "/v1/users/me/usage")`. */
    suspend fun call(method: String, path: String, query: Query = emptyMap(), body: JsonElement? = null): JsonElement =
        inClient { requester.call(method, path, query, body) }

    /** Ends all connections. What is kept stays; what is sent from then on is kept for the next start. */
    override fun close() {
        core.scope.cancel()
        requester.close()
    }

    /** Does it even where its caller is cancelled. */
    internal suspend fun <Result> inClient(scope: CoroutineScope = core.scope, work: suspend () -> Result): Result = try {
        scope.async { work() }.await()
    } catch (cancelled: CancellationException) {
        currentCoroutineContext().ensureActive()
        // The client is closed.
        throw offline(cancelled)
    }

    /** What comes of it is told by the state. */
    internal fun later(work: suspend () -> Unit) {
        core.scope.launch { quietly { work() } }
    }

    private fun countPending() {
        pending.value = outbox.waiting().values.sumOf { it.size }
    }

    private fun entriesChanged(conversationId: String) {
        countPending()
        chats[conversationId]?.reading?.changed()
        inbox.changed()
    }

    private suspend fun hear(event: UserEvent) {
        when (event.type) {
            "conversation" -> event.conversation?.let { row ->
                // What was erased is erased from what is kept, too, of a chat that was not opened yet.
                val chat = if (event.erased == null) chats[row.id] else chat(row.id)
                chat?.reading?.hear(event)
            }
            "gone" -> {
                core.saver.forget(keptKey(event.conversationId)).join()
                chats[event.conversationId]?.reading?.gone()
            }
            "reset" -> {
                keptLoaded.join()
                for (id in keptChats) if (chats[id]?.reading?.isOpen != true) core.saver.forget(keptKey(id)).join()
                for (chat in chats.values) if (chat.reading.isOpen) later { chat.reading.refresh() }
            }
        }
    }

    /** It is looked at: of the chats that are kept it is the last to be forgotten. */
    internal fun noteOpened(id: String) = later {
        keptLoaded.join()
        val others = keptChats - id
        for (old in others.dropLast(CHATS_KEPT - 1)) core.saver.forget(keptKey(old))
        keptChats = others.takeLast(CHATS_KEPT - 1) + id
        core.saver.save(CHATS_KEY) { json.encodeToString(keptChats) }
    }

    /** Push messages to this installation. */
    inner class Push internal constructor() {
        /** At every start: the service is told only what is new. */
        suspend fun register(token: String, platform: String = "android", locale: String? = null) = inClient {
            val kept = core.store.read<KeptDevice>(DEVICE_KEY) ?: KeptDevice(UUID.randomUUID().toString())
            val body = jsonOf("token" to token, "platform" to platform, "locale" to locale)
            if (kept.registered == body.toString()) return@inClient
            core.store.set(DEVICE_KEY, json.encodeToString(KeptDevice(kept.id)))
            requester.call<JsonElement>("PUT", "/v1/users/me/devices/${kept.id}", body = body)
            core.store.set(DEVICE_KEY, json.encodeToString(KeptDevice(kept.id, body.toString())))
        }

        /** At sign-out. */
        suspend fun unregister() = inClient {
            val kept = core.store.read<KeptDevice>(DEVICE_KEY)
            if (kept?.registered == null) return@inClient
            requester.call<JsonElement>("DELETE", "/v1/users/me/devices/${kept.id}")
            // A deleted device is not taken again under its id.
            core.store.delete(DEVICE_KEY)
        }
    }
}

@Serializable
private data class KeptDevice(
    val id: String,
    /** What was registered; null: nothing is. */
    val registered: String? = null,
)
