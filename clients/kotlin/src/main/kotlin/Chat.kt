package dev.recap

import java.util.Locale
import java.util.TimeZone
import java.util.UUID
import kotlinx.coroutines.flow.*
import kotlinx.serialization.json.*

/** While another message is answered: wait, take its place, or be refused. */
enum class OnBusy { QUEUE, INTERRUPT, REJECT }

/** `KEEP`: stays word for word; `DROP`: is folded first. */
enum class MessageRetention { KEEP, NORMAL, DROP }

data class SendOptions(
    val files: List<FileInput> = emptyList(),
    /** By itself a message waits, and an edit takes the place of what is answered. */
    val onBusy: OnBusy? = null,
    /** What the app tells the model of the moment: docs/guides/client-context.md. */
    val context: Map<String, JsonElement> = emptyMap(),
    val retention: MessageRetention? = null,
    /** JSON Schema that the answer has to fit. */
    val responseSchema: JsonObject? = null,
)

/** What the API takes of the parts of a message, also of one that is shown. */
private fun inputsOf(parts: List<Part>): List<Part> = parts.mapNotNull { part ->
    when (part) {
        is Part.Text -> part
        is Part.File -> when {
            part.uploadId != null -> Part.File(uploadId = part.uploadId)
            part.data != null -> Part.File(part.mediaType, data = part.data)
            part.url != null -> Part.File(part.mediaType, url = part.url)
            else -> null
        }
        else -> null
    }
}

/**
 * One conversation. It is open while its [state] or its [messages] are collected. What is said to throw throws
 * [RecapException].
 */
class Chat internal constructor(
    val id: String,
    private val recap: Recap,
    private val core: Core,
    private val outbox: Outbox,
    private val inbox: Inbox,
) {
    internal val reading = Reading(id, core, outbox, inbox) { recap.noteOpened(id) }

    val state: StateFlow<ChatState> = reading.shown.asStateFlow()
    val messages: Flow<List<Message>> = state.map { it.messages }.distinctUntilChanged()

    /** Returns the message's id as soon as it is kept. Never throws: what comes of it is in its state. */
    suspend fun send(text: String, options: SendOptions = SendOptions()): String = send(textParts(text), options)

    suspend fun send(parts: List<Part>, options: SendOptions = SendOptions()): String = recap.inClient(core.lasting) {
        addMessage("/messages", parts, options)
    }

    /** Says something else in place of a message of the user; all after it leaves the branch. */
    suspend fun edit(messageId: String, text: String, options: SendOptions = SendOptions()): String =
        edit(messageId, textParts(text), options)

    suspend fun edit(messageId: String, parts: List<Part>, options: SendOptions = SendOptions()): String = recap.inClient {
        val replaced = find(messageId).seq
        if (replaced != null)
            return@inClient addMessage("/messages/$messageId:edit", parts, options, replaced)
        // The service does not have it: the new one is sent in its place.
        outbox.drop(messageId)
        addMessage("/messages", parts, options)
    }

    /** Answers the last message anew. */
    suspend fun regenerate(context: Map<String, JsonElement> = emptyMap()): String = recap.inClient {
        val last = state.value.messages.findLast { it.role == Role.USER && it.seq != null }
            ?: throw RecapException(400, "NOT_THE_LAST_ANSWER", "There is no message that could be answered anew.")
        val newId = UUID.randomUUID().toString()
        val body = jsonOf("id" to newId, "onBusy" to "interrupt", "clientContext" to contextOf(context))
        val path = "/messages/${last.id}:regenerate"
        add(newEntry(newId, path, body, inputsOf(last.parts), last.seq))
    }

    private fun find(messageId: String): Message = state.value.transcript.find { it.id == messageId }
        ?: throw RecapException(404, "MESSAGE_NOT_FOUND", "This chat shows no message $messageId.")

    private fun textParts(text: String) = if (text.isEmpty()) emptyList() else listOf(Part.Text(text))

    private fun contextOf(given: Map<String, JsonElement>): JsonObject {
        val device = jsonOf("timeZone" to TimeZone.getDefault().id, "locale" to Locale.getDefault().toLanguageTag())
        return JsonObject(device + core.options.clientContext() + given)
    }

    private suspend fun addMessage(
        path: String, given: List<Part>, options: SendOptions, replaces: Int? = null,
    ): String {
        val messageId = UUID.randomUUID().toString()
        val inputs = inputsOf(given)
        val message = jsonOf(
            "id" to messageId,
            "parts" to json.encodeToJsonElement(inputs),
            "retention" to options.retention?.name?.lowercase(),
        )
        val onBusy = options.onBusy ?: if (replaces == null) OnBusy.QUEUE else OnBusy.INTERRUPT
        val body = jsonOf(
            "message" to message,
            "onBusy" to onBusy.name.lowercase(),
            "responseSchema" to options.responseSchema,
            "clientContext" to contextOf(options.context),
        )
        return add(newEntry(messageId, path, body, inputs, replaces), options.files)
    }

    private fun newEntry(
        newId: String, path: String, body: JsonObject, shown: List<Part>, replaces: Int?,
    ) = Entry(newId, id, path, body, shown, replaces, core.requester.now)

    private suspend fun add(entry: Entry, files: List<FileInput> = emptyList()): String {
        recap.later { reading.loadNewest() }
        outbox.add(entry, files)
        return entry.id
    }

    /** Sends a message again that failed, or whose answer did. */
    suspend fun retry(messageId: String) = recap.inClient {
        val transcript = state.value.transcript
        val at = transcript.indexOf(find(messageId))
        val asked = transcript[if (transcript[at].role == Role.MODEL) at - 1 else at]
        val answer = transcript.find { it.role == Role.MODEL && it.seq == asked.seq }
        // It may have been answered meanwhile.
        if (asked.state != MessageState.FAILED && answer?.state != MessageState.FAILED) return@inClient
        asked.seq?.let(reading::forgetAnswer)
        // Of a message that this device did not send, the words are sent again in its place.
        if (!outbox.retry(asked.id)) edit(asked.id, asked.parts)
    }

    /** Forgets a message that is not sent. */
    suspend fun discard(messageId: String) = recap.inClient { outbox.drop(messageId) }

    /** Ends the answer that is being written; its text stays. */
    suspend fun stop() = recap.inClient {
        val row = inbox.row(id)
        val seq = reading.unfinishedSeq() ?: row?.lastSeq?.takeIf { row.state == "running" }
        val pending = outbox.of(id).find { it.state == Entry.State.PENDING }
        if (seq != null) cancel(seq) else if (pending != null) outbox.markToStop(pending.id)
    }

    private suspend fun cancel(seq: Int) {
        try {
            core.life.untilDone { reading.call("POST", "/turns/t_$seq:cancel") }
        } catch (error: RecapException) {
            // It has ended meanwhile.
            if (error.reason != "TURN_FINISHED") throw error
        }
    }

    /** Reads older ones; returns whether there are more. Throws. */
    suspend fun loadOlder(count: Int = 30): Boolean = recap.inClient { reading.loadOlder(count) }
    /** The same, behind the last one after [loadAround]. */
    suspend fun loadNewer(count: Int = 30): Boolean = recap.inClient { reading.loadNewer(count) }
    /** Shows the messages around a turn. Throws. */
    suspend fun loadAround(seq: Int) = recap.inClient { reading.loadAround(seq) }

    /** Shows the newest ones again. Throws. */
    suspend fun loadNewest() = recap.inClient { reading.loadNewest() }

    /** The answers up to the last message shown, or [seq], were seen. Never throws. */
    suspend fun markRead(seq: Int? = null) = recap.inClient {
        inbox.markRead(id, seq ?: state.value.messages.maxOfOrNull { it.seq ?: 0 } ?: 0)
    }

    /** Allows a call of the service's tool, or does not. Throws. */
    suspend fun approve(callId: String, isAllowed: Boolean) = recap.inClient { reading.approve(callId, isAllowed) }
    /** Reads again what may have changed. Throws. */
    suspend fun refresh() = recap.inClient { reading.refresh() }

    /* These change it in the list, too. They throw. */

    suspend fun rename(title: String) = recap.inClient {
        patch("title", title, { copy(title = title) }, { copy(title = it.title) })
        reading.rename(title)
    }

    suspend fun archive(isArchived: Boolean = true) = recap.inClient {
        patch("archived", isArchived, { copy(archived = isArchived) }, { copy(archived = it.archived) })
    }

    suspend fun pin(isPinned: Boolean = true) = recap.inClient {
        patch("pinned", isPinned, { copy(pinned = isPinned) }, { copy(pinned = it.pinned) })
    }

    /** Into the bin for 30 days. */
    suspend fun remove() = recap.inClient {
        val now = core.requester.now
        inbox.change(id, { copy(deleteTime = now) }, { copy(deleteTime = it.deleteTime) }) { reading.call("DELETE", "") }
    }

    suspend fun undelete() = recap.inClient {
        inbox.change(id, { copy(deleteTime = null) }, { copy(deleteTime = it.deleteTime) }) {
            reading.call("POST", ":undelete")
        }
    }

    private suspend fun patch(field: String, value: Any, to: Row.() -> Row, back: Row.(Row) -> Row) =
        inbox.change(id, to, back) { reading.call("PATCH", "", mapOf("updateMask" to field), jsonOf(field to value)) }

    /* These throw, too. */

    suspend fun deleteMessage(messageId: String) = recap.inClient {
        val seq = state.value.transcript.find { it.id == messageId }?.seq
        reading.call("DELETE", "/messages/$messageId")
        if (seq != null) reading.readAgain(seq)
    }

    suspend fun rate(messageId: String, rating: Rating, comment: String? = null) = recap.inClient {
        val body = jsonOf("rating" to rating.name.lowercase(), "comment" to comment)
        reading.call("PUT", "/messages/$messageId/feedback", body = body)
        messageId.removePrefix("m_").toIntOrNull()?.let { reading.readAgain(it) }
        Unit
    }

    suspend fun compact() = recap.inClient {
        reading.call("POST", ":compact", body = JsonObject(emptyMap()))
        reading.readCompaction()
    }

    /** Any other call of it, such as `call("GET", "/context")`. */
    suspend fun call(method: String, path: String, query: Query = emptyMap(), body: JsonElement? = null): JsonElement =
        recap.inClient { reading.call(method, path, query, body) }

    /** The service has a message. */
    internal fun taken(entry: Entry, stream: EventStream) {
        val seq = entry.seq ?: return stream.close()
        if (entry.isToStop) recap.later { cancel(seq) }
        reading.taken(seq, stream)
    }
}
