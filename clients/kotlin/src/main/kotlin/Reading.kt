package dev.recap

import kotlinx.coroutines.*
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.*
import kotlinx.coroutines.sync.*
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.*

/** Messages that are read at once when a chat opens, and that are kept. */
private const val NEWEST_MESSAGES = 50
/** Turns of a page of the API. */
private const val PAGE_TURNS = 50
/** Turns in memory; what is dropped at the other end is read again when it is scrolled to. */
private const val TURNS_MAX = 1_000
/** Who has missed more turns begins anew from the newest. */
private const val CATCH_UP_TURNS_MAX = 100
/** Turns on each side of one that is jumped to. */
private const val AROUND_TURNS = 12

/* While a compaction is under way, which no stream tells of. */
private val UNDER_WAY = setOf("QUEUED", "RUNNING", "VERIFYING")
/** A compaction that is due begins within seconds; after that it is one that is not due. */
private const val DUE_WITHIN_MS = 15_000
/** So long a compaction takes; one that shows nothing new for longer waits for its next try. */
private const val MOVES_WITHIN_MS = 60_000
/** So much rarer are looks then. */
private const val SLOWER = 5

/** How long to pause before the next look at the context; null: no compaction is under way. */
private fun watchPaceMs(context: ContextState?, unchangedMs: Long, watchMs: Long): Long? = when {
    context == null -> null
    context.compaction?.state in UNDER_WAY -> if (unchangedMs < MOVES_WITHIN_MS) watchMs else SLOWER * watchMs
    context.thresholdTokens == null || context.tokens < context.thresholdTokens -> null
    else -> watchMs.takeIf { unchangedMs < DUE_WITHIN_MS }
}

/** What is kept of a chat. */
@Serializable
private data class KeptChat(
    val messages: List<StoredMessage>,
    val title: String? = null,
    val context: ContextState? = null,
    val erasedCount: Int = 0,
    /** Answers as they were streamed, whose stored messages were not read yet. */
    val live: Map<Int, LiveAnswer> = emptyMap(),
)

internal fun keptKey(id: String) = "chat/$id"

/** What is shown of a conversation: kept, read, and followed while somebody looks. */
internal class Reading(
    private val id: String,
    private val core: Core,
    private val outbox: Outbox,
    private val inbox: Inbox,
    private val onOpen: () -> Unit,
) {
    private val requester = core.requester
    private val life = core.life
    private val scope = core.scope
    private val base = "/v1/conversations/$id"

    val shown = MutableStateFlow(ChatState())
    private var turns = Turns.NONE
    private val live = mutableMapOf<Int, LiveAnswer>()
    private val context = MutableStateFlow<ContextState?>(null)
    private var title: String? = null
    private var erasedCount = 0
    private var isLoaded = false
    private var hasNewer = false
    private var problem: RecapException? = null
    /** What is done while somebody looks; null while nobody does. */
    private var looking: CoroutineScope? = null
    val isOpen get() = looking != null

    /** One after the other: what is read later is newer. */
    private val reading = Mutex()
    /** The reply that began a turn and is not read yet. */
    private var begun: EventStream? = null
    /** The turn whose stream is read. */
    private var followed: Int? = null
    private var isFollowing = false
    /** There may be something to be followed. */
    private val news = Channel<Unit>(Channel.CONFLATED)
    private val callsRun = mutableSetOf<String>()

    init {
        scope.launch {
            changed()
            shown.subscriptionCount.map { it > 0 }.distinctUntilChanged().collectLatest { if (it) open() }
        }
    }

    fun changed() {
        if (core.otherUser != null) empty()
        val transcript = Transcript(turns, live, outbox.of(id), outbox::progressOf)
        val current = transcript.current
        val isAnswering = current.any { it.state == MessageState.QUEUED || it.state == MessageState.RUNNING }
        val hasOlder = turns.first > 1
        shown.value =
            ChatState(current, transcript.all, title, context.value, hasOlder, hasNewer, isLoaded, isAnswering, problem)
    }

    private fun keep() {
        // What is kept is shown without a connection: the newest.
        if (hasNewer) return
        // As it is now: when it is written, other messages may be shown.
        val kept = KeptChat(turns.messages.takeLast(NEWEST_MESSAGES), title, context.value, erasedCount, live.toMap())
        core.saver.save(keptKey(id)) { json.encodeToString(kept) }
    }

    suspend fun call(method: String, path: String, query: Query = emptyMap(), body: JsonElement? = null): JsonElement =
        requester.call(method, "$base$path", query, body)

    /* Opening, and leaving by cancellation. */

    private suspend fun open(): Unit = coroutineScope {
        looking = this
        news.tryReceive()
        launch { inbox.use() }
        try {
            outbox.awaitLoaded()
            if (!isLoaded) showKept()
            changed()
            onOpen()
            launch { context.collectLatest { watch() } }
            launch { readAndFollow() }
            follow()
        } finally {
            looking = null
            isFollowing = false
            followed = null
            begun?.close()
            begun = null
            // An app may open any number of chats: of one that is closed as much stays as is kept.
            turns = if (hasNewer) Turns.NONE else turns.newest(NEWEST_MESSAGES / 2)
            isLoaded = isLoaded && !hasNewer
            hasNewer = false
        }
    }

    private suspend fun showKept() {
        val kept = core.store.read<KeptChat>(keptKey(id)) ?: return
        if (turns.size > 0) return
        turns = Turns.of(kept.messages)
        title = kept.title
        context.value = kept.context
        erasedCount = kept.erasedCount
        live += kept.live - live.keys
    }

    /** Looks again while a compaction is on its way: no stream tells of its end. Begins anew with each change. */
    private suspend fun watch() {
        var unchangedMs = 0L
        while (true) {
            val paceMs = watchPaceMs(context.value, unchangedMs, core.options.timings.watchMs) ?: return
            delay(paceMs)
            // The end of an answer is read anyway.
            if (isFollowing) continue
            unchangedMs += paceMs
            quietly {
                readAbout()
                changed()
                keep()
            }
        }
    }

    /* Reading. */

    private suspend fun inTurn(work: suspend () -> Unit) = reading.withLock {
        try {
            work()
            problem = null
        } catch (error: RecapException) {
            problem = error
            throw error
        } finally {
            changed()
        }
    }

    private suspend fun readPage(vararg query: Pair<String, Any?>): List<StoredMessage> =
        requester.read<MessagesPage>("$base/messages", mapOf(*query)).messages

    /** As many as a page has, at most. */
    private suspend fun readTurns(from: Int, upTo: Int): Turns {
        val pageSize = 2 * minOf(PAGE_TURNS, upTo - from + 1)
        return Turns.of(readPage("afterSeq" to from - 1, "pageSize" to pageSize).filter { it.seq <= upTo })
    }

    private suspend fun readNewest() {
        val read = Turns.of(readPage("order" to "desc", "pageSize" to NEWEST_MESSAGES))
        // The oldest of a page may be an answer without its question.
        turns = read.filter { it.user != null || it.seq > read.first }
        live.keys.removeAll { it < turns.first }
        hasNewer = false
    }

    /** Reads what came, or may have changed, since it was read. */
    private suspend fun readChanges() {
        val newest = maxOf(inbox.row(id)?.lastSeq ?: 0, begun?.seq ?: 0)
        if (newest - turns.last > CATCH_UP_TURNS_MAX) return readNewest()
        // The last turn may have been answered once more.
        var from = turns.open.firstOrNull() ?: maxOf(1, turns.last)
        // So were older ones that were asked for again; one that is not shown is read with its page.
        live.keys.removeAll { it < from && it !in turns }
        for (seq in live.keys.filter { it < from }) turns += readTurns(seq, seq)
        while (true) {
            val read = readTurns(from, from + PAGE_TURNS - 1)
            turns = turns.joined(read).newest(TURNS_MAX)
            if (read.last < from + PAGE_TURNS - 1) return
            from = turns.last + 1
        }
    }

    /** Forgets what was streamed before the messages were read that tell more, and entries whose answer ended well. */
    private suspend fun settle(before: Map<Int, LiveAnswer>) {
        val unfinished = turns.open.toSet()
        val isOver = { seq: Int -> seq in turns && seq !in unfinished }
        for ((seq, answer) in before) if (isOver(seq) && seq != followed && live[seq] === answer) live -= seq
        for (entry in outbox.of(id)) {
            val seq = entry.seq ?: continue
            val isWell = isOver(seq) && turns[seq]?.user?.state != TurnState.FAILED
            if (entry.state == Entry.State.TAKEN && isWell) outbox.drop(entry.id)
        }
    }

    private suspend fun readAbout() {
        val (titleBefore, contextBefore) = title to context.value
        val about: About = requester.read(base)
        // What was told meanwhile is newer.
        if (title == titleBefore) title = about.title
        if (context.value == contextBefore) context.value = about.context
    }

    private suspend fun readAll() {
        val before = live.toMap()
        try {
            if (!isLoaded) readNewest() else if (!hasNewer) readChanges()
            settle(before)
            for (seq in turns.waiting) turns[seq]?.let(::runCalls)
            readAbout()
        } catch (error: RecapException) {
            // It begins with its first message.
            if (error.reason != "CONVERSATION_NOT_FOUND") throw error
            turns = Turns.NONE
        }
        isLoaded = true
        keep()
    }

    /** Reads what may have changed, and follows what is being answered. */
    suspend fun refresh() {
        inTurn(::readAll)
        news.trySend(Unit)
    }

    /** Reads until it works; what is final is the `problem`. */
    private suspend fun readUntilDone() = quietly { life.untilDone { inTurn(::readAll) } }

    private suspend fun readAndFollow() {
        readUntilDone()
        news.trySend(Unit)
    }

    suspend fun readAgain(seq: Int) = inTurn {
        turns += readTurns(seq, seq)
        keep()
    }

    suspend fun loadOlder(count: Int): Boolean {
        inTurn {
            val first = turns.first
            if (first <= 1) return@inTurn
            val all = turns.joined(readTurns(maxOf(1, first - turnsOf(count)), first - 1))
            turns = all.oldest(TURNS_MAX)
            hasNewer = hasNewer || turns.size < all.size
        }
        return shown.value.hasOlder
    }

    suspend fun loadNewer(count: Int): Boolean {
        inTurn {
            if (!hasNewer) return@inTurn
            val upTo = turns.last + turnsOf(count)
            val newer = readTurns(turns.last + 1, upTo)
            turns = turns.joined(newer).newest(TURNS_MAX)
            hasNewer = upTo in newer
        }
        news.trySend(Unit)
        return hasNewer
    }

    private fun turnsOf(count: Int) = ((count + 1) / 2).coerceIn(1, PAGE_TURNS)

    suspend fun loadAround(seq: Int) = inTurn {
        val upTo = seq + AROUND_TURNS
        turns = readTurns(maxOf(1, seq - AROUND_TURNS), upTo)
        hasNewer = upTo in turns
        isLoaded = true
    }

    /* Following answers. */

    /** Turns that are being answered, or wait to be, as the messages say or as their streams do. */
    private fun unfinished(): List<Int> = (turns.running + live.filterValues { it.isUnfinished }.keys).distinct().sorted()

    /** Follows one answer after the other. */
    private suspend fun follow(): Nothing {
        var last: Int? = null
        var looks = 0
        news.receive()
        while (true) {
            val seq = if (hasNewer) null else unfinished().firstOrNull()
            if (seq == null) {
                isFollowing = false
                last = null
                news.receive()
                continue
            }
            isFollowing = true
            // One that is still running behind the end of its stream is looked at again, but not at once.
            looks = if (last == seq) looks + 1 else 0
            last = seq
            if (looks > 0) life.pauseAfter(null, looks)
            followed = seq
            val first = begun?.takeIf { it.seq == seq }
            if (first == null) begun?.close()
            begun = null
            val answer = { live[seq] ?: LiveAnswer(MessageState.QUEUED) }
            val reader = AnswerReader(requester, life, "$base/turns/t_$seq/stream", answer) { newer, chunk ->
                live[seq] = newer
                chunk?.let(::takeChunk)
                changed()
            }
            reader.read(first)
            followed = null
            keep()
            readUntilDone()
        }
    }

    private fun takeChunk(chunk: StreamChunk) {
        val data = chunk.data ?: return
        if (chunk.type == "data-context") quietly { context.value = decode<ContextState>(data.toString()) }
        if (chunk.type == "data-title") quietly { title = decode<About>(data.toString()).title ?: title }
    }

    /** The turn that is being answered, or waits to be. */
    fun unfinishedSeq(): Int? = unfinished().firstOrNull() ?: turns.waiting.firstOrNull() ?: followed

    /** The service has a message: whoever looks reads its answer, one after the other. */
    fun taken(seq: Int, stream: EventStream) {
        live[seq] = LiveAnswer(MessageState.QUEUED)
        if (isOpen && !isFollowing && begun == null) begun = stream else stream.close()
        changed()
        news.trySend(Unit)
    }

    /** An answer is asked for again. */
    fun forgetAnswer(seq: Int) {
        live -= seq
    }

    /** Shows the newest messages, where older ones are shown. */
    suspend fun loadNewest() {
        if (!hasNewer) return
        isLoaded = false
        refresh()
    }

    fun rename(to: String) {
        title = to
        changed()
    }

    suspend fun readCompaction() {
        readAbout()
        changed()
    }

    /* Calls of tools. */

    /** Runs what the model asks of the app, on the device that sent the message. */
    private fun runCalls(turn: StoredTurn) {
        if (turn.user == null || outbox.find(turn.user.id)?.state != Entry.State.TAKEN) return
        val calls = turn.answer?.openCalls.orEmpty().filter { it.wants == "output" && callsRun.add(it.callId) }
        if (calls.isEmpty()) return
        scope.launch {
            try {
                giveResults(turn.seq, calls.map { async { runTool(core.options.tools, id, it) } }.awaitAll())
            } catch (error: RecapException) {
                problem = error
                changed()
            }
        }
    }

    suspend fun approve(callId: String, isAllowed: Boolean) {
        val seq = callId.split('_').getOrNull(1)?.toIntOrNull()
            ?: throw RecapException(400, "BAD_FIELD", "$callId is the id of no call.")
        giveResults(seq, listOf(jsonOf("callId" to callId, "approved" to isAllowed)))
    }

    /** Sends results until they are taken. */
    private suspend fun giveResults(seq: Int, results: List<JsonObject>) = life.untilDone {
        val body = jsonOf("results" to JsonArray(results)).toString()
        // Its stream goes on where the turn's did: it is read there.
        requester.stream("POST", "$base/turns/t_$seq/toolResults", body = body).close()
        refresh()
    }

    /* What other devices did. */

    /** Its row has changed. */
    suspend fun hear(event: UserEvent) {
        val row = event.conversation ?: return
        val erased = event.erased
        val looking = looking
        if (looking == null) {
            if (erased != null) forgetErased(erased.count)
            return
        }
        title = row.title ?: title
        changed()
        if (erased != null && erased.count > erasedCount) {
            // It is kept again when it is read.
            core.saver.forget(keptKey(id)).join()
            looking.launch { quietly { life.untilDone { readErased(erased) } } }
        }
        val last = turns[turns.last]
        val lastState = if (last?.user?.state == TurnState.FAILED) "failed" else "idle"
        val isKnown = row.lastSeq <= turns.last && row.state == lastState
        // The end of what is followed is read anyway.
        if (isLoaded && !isFollowing && !isKnown) looking.launch { readAndFollow() }
    }

    /** Reads turns again of which something was erased. */
    private suspend fun readErased(erased: UserEvent.Erased) {
        val newCount = erased.count - erasedCount
        if (newCount <= 0) return
        if (newCount > erased.seqs.size) {
            isLoaded = false
            refresh()
        } else {
            for (seq in erased.seqs.takeLast(newCount)) if (seq in turns) readAgain(seq)
        }
        erasedCount = erased.count
        keep()
    }

    /** Of one that nobody looks at, all that is kept is forgotten. */
    private suspend fun forgetErased(count: Int) {
        val known = if (isLoaded) erasedCount else core.store.read<KeptChat>(keptKey(id))?.erasedCount ?: count
        if (count <= known) return
        isLoaded = false
        gone().join()
    }

    /** Nothing is left of it. */
    fun gone(): Job {
        empty()
        changed()
        return core.saver.forget(keptKey(id))
    }

    private fun empty() {
        turns = Turns.NONE
        live.clear()
        title = null
        context.value = null
    }
}
