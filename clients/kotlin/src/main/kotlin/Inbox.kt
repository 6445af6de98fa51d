package dev.recap

import java.time.Instant
import java.time.format.DateTimeParseException
import kotlinx.coroutines.*
import kotlinx.coroutines.flow.*
import kotlinx.coroutines.sync.*
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.*

private const val KEY = "inbox"
private const val READ_PREFIX = "read/"
/** Rows that are kept. */
private const val ROWS_KEPT = 100
private const val PREVIEW_CHARACTERS = 120

@Serializable
private data class KeptInbox(val rows: List<Row>, val cursor: String? = null)

private fun instantOf(time: String?): Instant = try {
    Instant.parse(time.orEmpty())
} catch (_: DateTimeParseException) {
    Instant.MIN
}

private val Row.list
    get() = when {
        deleteTime != null -> ListName.DELETED
        archived -> ListName.ARCHIVED
        else -> ListName.ACTIVE
    }

/** With its messages that are not sent yet. */
private fun withPending(row: Row?, pending: List<Entry>): Row {
    val last = pending.last()
    val text = last.parts.filterIsInstance<Part.Text>().joinToString(" ") { it.text }
    val preview = text.replace(Regex("\\s+"), " ").trim().take(PREVIEW_CHARACTERS)
    val known = row ?: Row(last.conversationId, activeTime = last.time)
    return known.copy(
        activeTime = maxOf(known.activeTime, last.time, compareBy(::instantOf)),
        lastMessage = Row.LastMessage(known.lastSeq + 1, Role.USER, last.time, preview),
        pendingCount = pending.size,
    )
}

/** One list of conversations. It is read and followed while its [state] or its [rows] are collected. */
class ConversationList internal constructor(private val name: ListName, private val inbox: Inbox) {
    internal val shown = MutableStateFlow(ListState())
    val state: StateFlow<ListState> = shown.asStateFlow()
    val rows: Flow<List<Row>> = state.map { it.rows }.distinctUntilChanged()

    /** Reads the next page. Throws [RecapException]. */
    suspend fun loadMore() = inbox.loadMore(name)
}

/** The user's conversations: as they were kept, as the list tells, and as the events after it tell. */
internal class Inbox(private val core: Core, private val outbox: Outbox, private val onEvent: suspend (UserEvent) -> Unit) {
    private val store = core.store
    private val saver = core.saver
    private val requester = core.requester
    private val life = core.life
    private val scope = core.scope
    val lists = ListName.entries.associateWith { ConversationList(it, this) }
    private var known: Map<String, Row> = emptyMap()
    private var cursor: String? = null
    /** Where each list goes on; a list that is not named was not read, null: all of it is known. */
    private val nextPages = mutableMapOf<ListName, String?>()
    /** What was seen here and the service may not know yet. */
    private val seen = mutableMapOf<String, Int>()
    private val telling = mutableSetOf<String>()
    private var problem: RecapException? = null
    /** One after the other: an event that comes while a page is read may be newer than what the page has. */
    private val working = Mutex()
    /** Whether all that was missed has been told. */
    private var isReady = false
    /** Connections are wanted by so many. */
    private val users = MutableStateFlow(0)

    fun start() {
        val loaded = scope.launch { load() }
        for (list in lists.values)
            scope.launch {
                list.shown.subscriptionCount.map { it > 0 }.distinctUntilChanged().collectLatest { if (it) watch() }
            }
        scope.launch {
            loaded.join()
            combine(users, life.isActive) { users, isActive -> users > 0 && isActive }
                .distinctUntilChanged()
                .collectLatest { isWanted -> if (isWanted) follow() }
        }
    }

    fun row(id: String): Row? = known[id]

    fun changed() {
        val all = known.mapValues { (id, row) -> if ((seen[id] ?: 0) >= row.lastSeq) row.copy(unreadCount = 0) else row }
        val pending = outbox.waiting().mapValues { (id, entries) -> withPending(all[id], entries) }
        val shown = if (core.otherUser == null) all + pending else emptyMap()
        val rows = shown.values
            .sortedWith(compareByDescending<Row> { it.pinned }.thenByDescending { instantOf(it.activeTime) })
            .groupBy { it.list }
        for ((name, list) in lists)
            list.shown.value = ListState(rows[name].orEmpty(), nextPages[name] != null, name in nextPages, problem)
    }

    private fun fail(error: RecapException) {
        problem = error
        changed()
    }

    private fun keep() = saver.save(KEY) {
        val newest = lists.getValue(ListName.ACTIVE).state.value.rows.take(ROWS_KEPT)
        json.encodeToString(KeptInbox(newest.mapNotNull { known[it.id] }, cursor))
    }

    private fun setRows(newer: List<Row>) {
        known = known + newer.associateBy { it.id }
    }

    /** Follows what changes as long as this runs. */
    suspend fun use(): Nothing {
        users.update { it + 1 }
        try {
            awaitCancellation()
        } finally {
            users.update { it - 1 }
        }
    }

    /** A list is looked at. */
    private suspend fun watch() = coroutineScope {
        launch { use() }
        if (isReady)
            try {
                working.withLock { readFirst() }
            } catch (error: RecapException) {
                fail(error)
            }
    }

    /** Reads the first page of a list, or the next one. */
    private suspend fun readPage(list: ListName, pageToken: String? = null) = coroutineScope {
        suspend fun read(vararg query: Pair<String, Any?>): ConversationsPage =
            requester.read("/v1/conversations", mapOf("list" to list.name.lowercase(), *query))
        // They stand before the others, however old they are.
        val pinned = async { if (pageToken == null) read("pinned" to true).conversations else emptyList() }
        val page = read("pageToken" to pageToken)
        if (pageToken == null) {
            // What was kept and is not in it any more is gone.
            val last = if (page.nextPageToken == null) null else page.conversations.lastOrNull()
            val from = instantOf(last?.activeTime)
            known = known.filterValues { it.list != list || instantOf(it.activeTime) < from }
        }
        setRows(page.conversations + pinned.await())
        nextPages[list] = page.nextPageToken
        problem = null
        changed()
        keep()
    }

    private suspend fun readFirst() {
        for ((name, list) in lists) if (list.shown.subscriptionCount.value > 0 && name !in nextPages) readPage(name)
    }

    suspend fun loadMore(list: ListName) = working.withLock {
        nextPages[list]?.let { readPage(list, it) }
        Unit
    }

    private suspend fun apply(event: UserEvent) {
        when (event.type) {
            "conversation" -> event.conversation?.let { row ->
                setRows(listOf(row))
                if (row.readSeq >= (seen[row.id] ?: Int.MAX_VALUE)) forgetSeen(row.id)
            }
            "gone" -> known = known - event.conversationId
            "ready" -> {
                isReady = true
                problem = null
                readFirst()
            }
            "reset" -> {
                isReady = true
                known = emptyMap()
                nextPages.clear()
                readFirst()
            }
        }
        // What it erases is not kept any more before the cursor behind it is.
        onEvent(event)
        changed()
    }

    /** Follows what changes, over as many connections as it takes; an event whose handling fails comes again. */
    private suspend fun follow() = life.keepReading({ cursor }, ::fail) {
        isReady = false
        val stream = requester.stream("GET", "/v1/users/me/events", mapOf("cursor" to cursor))
        stream.events.collect { (id, data) ->
            working.withLock { apply(decode(data)) }
            cursor = id ?: cursor
            keep()
        }
        false
    }

    private fun forgetSeen(id: String) {
        seen -= id
        saver.forget(READ_PREFIX + id)
    }

    suspend fun markRead(id: String, seq: Int) {
        val row = known[id]
        val readSeq = if (row?.unreadCount == 0) row.readSeq else -1
        if (seq <= maxOf(seen[id] ?: 0, readSeq)) return
        seen[id] = seq
        changed()
        saver.save(READ_PREFIX + id) { seq.toString() }.join()
        tellSeen(id)
    }

    /** Tells the service what was seen, until it knows. */
    private fun tellSeen(id: String) {
        if (!telling.add(id)) return
        scope.launch {
            try {
                life.untilDone {
                    while (true) {
                        val seq = seen[id] ?: break
                        val body = jsonOf("seq" to seq)
                        val row: Row = requester.call("POST", "/v1/conversations/$id:read", body = body)
                        if (id in known) setRows(listOf(row))
                        if (seen[id] == seq) forgetSeen(id)
                        changed()
                    }
                }
            } catch (_: RecapException) {
                forgetSeen(id)
            } finally {
                telling -= id
            }
        }
    }

    private suspend fun load() {
        store.read<KeptInbox>(KEY)?.let { kept ->
            known = kept.rows.associateBy { it.id } + known
            cursor = cursor ?: kept.cursor
        }
        for (key in store.keys(READ_PREFIX)) {
            val id = key.removePrefix(READ_PREFIX)
            val seq = store.read<Int>(key)
            if (seq == null || id in seen) continue
            seen[id] = seq
            tellSeen(id)
        }
        changed()
    }

    /** Shows a change at once, and takes it back where it is refused. Throws [RecapException]. */
    suspend fun change(id: String, to: Row.() -> Row, back: Row.(before: Row) -> Row, work: suspend () -> Any?) {
        val before = known[id]
        if (before != null) setRows(listOf(before.to()))
        changed()
        try {
            work()
            keep()
        } catch (error: RecapException) {
            val now = known[id]
            if (before != null && now != null) setRows(listOf(now.back(before)))
            changed()
            throw error
        }
    }
}
