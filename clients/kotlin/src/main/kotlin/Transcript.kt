package dev.recap

import java.util.SortedMap

/* What is shown of a conversation, from what is stored, streamed and not sent yet. */

/** What the user said, and its answer, as the service has them. */
internal class StoredTurn(val seq: Int, val user: StoredMessage?, val answer: StoredMessage?) {
    val state: TurnState get() = (user ?: answer)?.state ?: TurnState.DONE

    // Shown again and again while an answer comes.
    val shownUser: Message? by lazy { user?.let(::toMessage) }
    val shownAnswer: Message? by lazy {
        // That there is one is known before it is stored.
        (answer ?: user?.copy(id = "m_$seq", role = Role.MODEL, parts = emptyList(), sources = emptyList()))?.let(::toMessage)
    }
}

/** Turns by their number. */
internal class Turns private constructor(private val bySeq: SortedMap<Int, StoredTurn>) {
    /** 0: there is none. */
    val first: Int get() = if (bySeq.isEmpty()) 0 else bySeq.firstKey()
    val last: Int get() = if (bySeq.isEmpty()) 0 else bySeq.lastKey()
    val size: Int get() = bySeq.size
    val seqs: Set<Int> get() = bySeq.keys
    val all: Collection<StoredTurn> get() = bySeq.values
    val messages: List<StoredMessage> get() = all.flatMap { listOfNotNull(it.user, it.answer) }
    /** Turns that are being answered, or wait to be. */
    val running: List<Int> get() = seqsIn(TurnState.QUEUED, TurnState.RUNNING)
    val waiting: List<Int> get() = seqsIn(TurnState.AWAITING_TOOL)
    /** Turns that may be other when they are read again. */
    val open: List<Int> get() = seqsIn(TurnState.QUEUED, TurnState.RUNNING, TurnState.AWAITING_TOOL)

    operator fun get(seq: Int): StoredTurn? = bySeq[seq]
    operator fun contains(seq: Int): Boolean = seq in bySeq
    operator fun plus(newer: Turns) = Turns((bySeq + newer.bySeq).toSortedMap())
    fun filter(isKept: (StoredTurn) -> Boolean) = Turns(bySeq.filterValues(isKept).toSortedMap())

    /** With those that were read, without a gap: what lies beyond one is read again. */
    fun joined(read: Turns): Turns = when {
        read.size == 0 -> this
        read.first <= last + 1 && first <= read.last + 1 -> this + read
        else -> read
    }

    fun newest(max: Int) = seqs.toList().takeLast(max).toSet().let { kept -> filter { it.seq in kept } }
    fun oldest(max: Int) = seqs.take(max).toSet().let { kept -> filter { it.seq in kept } }
    private fun seqsIn(vararg states: TurnState) = all.filter { it.state in states }.map { it.seq }

    companion object {
        val NONE = Turns(sortedMapOf())

        fun of(messages: List<StoredMessage>): Turns {
            val turns = messages.groupBy { it.seq }.mapValues { (seq, both) ->
                StoredTurn(seq, both.find { it.role == Role.USER }, both.find { it.role == Role.MODEL })
            }
            return Turns(turns.toSortedMap())
        }
    }
}

/** All that a chat shows is made of. */
internal class Transcript(
    private val turns: Turns,
    private val live: Map<Int, LiveAnswer>,
    private val entries: List<Entry>,
    /** Share that was sent of a file of an entry. */
    private val progressOf: (Entry, Int) -> Double?,
) {
    private val entryOf = entries.filter { it.seq != null }.associateBy { it.seq }
    /** The oldest first. */
    val all: List<Message> = run {
        val taken = entries.mapNotNull { it.seq }.filter { it >= turns.first }
        val waiting = entries.filter { it.seq == null }
        (turns.seqs + taken).sorted().flatMap(::messagesOf) + waiting.map(::toMessage)
    }

    /** Those of the current branch. */
    val current: List<Message> = run {
        // From a turn that replaces others: the first of these, and itself.
        val stored = turns.all.mapNotNull { turn -> turn.user?.replaces?.let { it to turn.seq } }
        val sent = entries.filter { it.state != Entry.State.FAILED }
            .mapNotNull { entry -> entry.replaces?.let { it to (entry.seq ?: Int.MAX_VALUE) } }
        val replacements = stored + sent
        all.filterNot { message ->
            val seq = message.seq ?: Int.MAX_VALUE
            message.outOfContext?.reason == "replaced" || replacements.any { (from, by) -> seq in from..<by }
        }
    }

    private fun messagesOf(seq: Int): List<Message> {
        val entry = entryOf[seq]
        // It is sent once more.
        if (entry != null && entry.state != Entry.State.TAKEN) return listOf(toMessage(entry))
        val asked = turns[seq]?.shownUser ?: entry?.let(::toMessage) ?: return emptyList()
        return listOf(asked, answerOf(seq, asked.time))
    }

    /** As it is streamed, else as it is stored, else that there is one. */
    private fun answerOf(seq: Int, time: String): Message = live[seq]?.toMessage(seq, time)
        ?: turns[seq]?.shownAnswer
        ?: LiveAnswer(MessageState.RUNNING).toMessage(seq, time)

    private fun toMessage(entry: Entry): Message {
        val files = entry.files.mapIndexed { index, file ->
            Part.File(file.mediaType, file.name, file.uploadId, path = file.path, progress = progressOf(entry, index))
        }
        val state = when (entry.state) {
            Entry.State.PENDING -> MessageState.PENDING
            Entry.State.TAKEN -> MessageState.SENT
            Entry.State.FAILED -> MessageState.FAILED
        }
        return Message(entry.id, Role.USER, state, entry.parts + files, entry.time, entry.seq, entry.error)
    }
}
