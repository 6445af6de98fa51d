package dev.recap

import java.io.File
import java.util.Base64
import kotlinx.coroutines.*
import kotlinx.coroutines.sync.*
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.*

private const val PREFIX = "outbox/"
/** Taken ones that are kept, so that they can be sent again. */
private const val TAKEN_MAX = 100
/** Above every order of what is kept. */
private const val UNKEPT_ORDER = 1_000_000_000_000L

/** What the user did, and what is sent for it. */
@Serializable
internal data class Entry(
    /** Of the message. */
    val id: String,
    val conversationId: String,
    /** Below the conversation. */
    val path: String,
    /** But for the parts of uploads. */
    val body: JsonObject,
    /** What is shown; of a regeneration the message that is answered anew. */
    val parts: List<Part>,
    /** First of the turns that it takes the place of. */
    val replaces: Int? = null,
    /** ISO 8601. */
    val time: String,
    val files: List<KeptFile> = emptyList(),
    /** Later ones have a greater one. */
    val order: Long = UNKEPT_ORDER,
    val state: State = State.PENDING,
    val seq: Int? = null,
    val error: MessageError? = null,
    /** The answer is to be stopped as soon as its turn is known. */
    val isToStop: Boolean = false,
) {
    /** [TAKEN]: the service has it, and its answer has not ended well yet. */
    @Serializable
    enum class State { PENDING, TAKEN, FAILED }

    /** Two processes may share a store: the same order may be there twice. */
    val key get() = "$PREFIX$conversationId/${order.toString().padStart(12, '0')}/$id"

    /** The same bytes in every try. */
    fun bodyText(): String {
        val message = body["message"]?.jsonObject ?: return body.toString()
        val uploads = files.map { jsonOf("type" to "file", "uploadId" to it.uploadId) }
        val parts = JsonArray(message.getValue("parts").jsonArray + uploads)
        return JsonObject(body + ("message" to JsonObject(message + ("parts" to parts)))).toString()
    }
}

/** A file that goes with a message. Its bytes stand under a key of their own, or in a file of the device. */
@Serializable
internal data class KeptFile(
    val mediaType: String,
    val name: String? = null,
    val path: String? = null,
    val key: String? = null,
    /** It has arrived. */
    val uploadId: String? = null,
)

/** What the user did and the service does not have yet, kept so that it is sent once, in order, whatever happens. */
internal class Outbox(
    private val core: Core,
    /** The entries of a conversation are others now. */
    private val onChange: (conversationId: String) -> Unit,
    /** The service has it; whoever does not read the stream closes it. */
    private val onTaken: (Entry, EventStream) -> Unit,
) {
    private val store = core.store
    private val saver = core.saver
    private val requester = core.requester
    private val life = core.life
    private val scope = core.scope
    private val entries = LinkedHashMap<String, Entry>()
    /** Shown, but not in the store yet: they are not sent. */
    private val unkept = mutableSetOf<String>()
    /** Those since the start. */
    private val added = mutableSetOf<String>()
    /** Of files that were added since the start, by their keys. */
    private val bytes = mutableMapOf<String, ByteArray>()
    /** Share that was sent of each file that is on its way, by message and index. */
    private val progress = mutableMapOf<Pair<String, Int>, Double>()
    /** Of these the files were uploaded a second time. */
    private val uploadedAnew = mutableSetOf<String>()
    private val draining = mutableSetOf<String>()
    private var lastOrder = 0L
    private val adding = Mutex()
    /** What was kept before is known. */
    private val loaded = scope.launch(start = CoroutineStart.LAZY) { load() }

    fun start() = loaded.start()
    suspend fun awaitLoaded() = loaded.join()

    /** Without what another user has left. */
    private val ownEntries get() = entries.values.filter { core.otherUser == null || it.id in added }

    fun of(conversationId: String): List<Entry> =
        ownEntries.filter { it.conversationId == conversationId }.sortedBy { it.order }

    fun find(id: String): Entry? = entries[id]

    /** What waits, by conversation. */
    fun waiting(): Map<String, List<Entry>> =
        ownEntries.filter { it.state == Entry.State.PENDING }.sortedBy { it.order }.groupBy { it.conversationId }

    fun progressOf(entry: Entry, index: Int): Double? = progress[entry.id to index]

    /** Shows an entry as it is now, and writes it. */
    private suspend fun put(entry: Entry) {
        entries[entry.id] = entry
        onChange(entry.conversationId)
        // One without its place is written with it.
        if (entry.id !in unkept) saver.save(entry.key) { json.encodeToString(entry) }.join()
    }

    suspend fun drop(id: String) {
        val entry = entries.remove(id) ?: return
        onChange(entry.conversationId)
        forget(entry).join()
    }

    private fun forget(entry: Entry): Job = saver.forget(entry.key).also { dropFiles(entry) }

    private fun dropFiles(entry: Entry) {
        val keys = entry.files.mapNotNull { it.key }
        bytes -= keys.toSet()
        for (key in keys) saver.forget(key)
    }

    private suspend fun load() {
        for (key in store.keys(PREFIX)) {
            val entry = store.read<Entry>(key) ?: continue
            lastOrder = maxOf(lastOrder, entry.order)
            entries.putIfAbsent(entry.id, entry)
        }
        for (conversationId in entries.values.map { it.conversationId }.toSet()) {
            onChange(conversationId)
            drain(conversationId)
        }
    }

    /** Shows it at once, keeps it, and sends it when its turn has come. */
    suspend fun add(given: Entry, files: List<FileInput>) {
        // Behind all that is kept, until it has its place.
        val shown = given.copy(order = UNKEPT_ORDER + unkept.size, files = files.map { it.described() })
        unkept += shown.id
        added += shown.id
        entries[shown.id] = shown
        onChange(shown.conversationId)
        adding.withLock {
            loaded.join()
            val kept = files.mapIndexed { index, file -> keepFile("file/${shown.id}/$index", file) }
            unkept -= shown.id
            // It was discarded meanwhile.
            val entry = entries[shown.id]?.copy(files = kept) ?: return dropFiles(shown.copy(files = kept))
            core.otherUser?.let { return disown(entry, it) }
            lastOrder += 1
            put(entry.copy(order = lastOrder))
        }
        drain(shown.conversationId)
    }

    private suspend fun keepFile(key: String, file: FileInput): KeptFile {
        bytes[key] = file.bytes ?: return file.described()
        saver.save(key) { Base64.getEncoder().encodeToString(file.bytes) }.join()
        return file.described().copy(key = key)
    }

    /** Sends what waits in a conversation, one after the other. */
    private fun drain(conversationId: String) {
        if (!draining.add(conversationId)) return
        scope.launch {
            try {
                while (true) {
                    val next = of(conversationId).find { it.state == Entry.State.PENDING && it.id !in unkept } ?: break
                    life.untilDone { tryOnce(next.id) }
                }
            } finally {
                draining -= conversationId
            }
        }
    }

    private suspend fun tryOnce(id: String) {
        val entry = entries[id]?.takeIf { it.state == Entry.State.PENDING } ?: return
        try {
            take(id, send(entry))
        } catch (error: RecapException) {
            refuse(id, error)
        }
    }

    private suspend fun send(entry: Entry): EventStream {
        val sent = entry.files.indices.fold(entry) { uploaded, index -> upload(uploaded, index) }
        val path = "/v1/conversations/${entry.conversationId}${entry.path}"
        val stream = requester.stream("POST", path, body = sent.bodyText())
        if (stream.seq != null) return stream
        stream.close()
        throw offline("a reply without x-turn-id")
    }

    private suspend fun upload(entry: Entry, index: Int): Entry {
        val file = entry.files[index]
        if (file.uploadId != null) return entry
        val bytes = readFile(file)
        val about = jsonOf("mimeType" to file.mediaType, "sizeBytes" to bytes.contentLength(), "name" to file.name)
        val begun: UploadBegun = requester.call("POST", "/v1/uploads", body = about)
        val place = entry.id to index
        fun show(share: Double) {
            progress[place] = share
            onChange(entry.conversationId)
        }
        show(0.0)
        try {
            requester.put(bytes, begun) { share -> scope.launch { if (place in progress) show(share) } }
        } finally {
            progress -= place
        }
        val files = entry.files.mapIndexed { at, each -> if (at == index) each.copy(uploadId = begun.uploadId) else each }
        val uploaded = (entries[entry.id] ?: entry).copy(files = files)
        if (entry.id in entries) put(uploaded)
        return uploaded
    }

    private suspend fun readFile(file: KeptFile): okhttp3.RequestBody {
        val onDevice = file.path?.let(::File)
        if (onDevice?.canRead() == true) return bodyOf(onDevice, file.mediaType)
        val kept = try {
            bytes[file.key] ?: file.key?.let { store.get(it) }?.let { Base64.getDecoder().decode(it) }
        } catch (_: IllegalArgumentException) {
            null
        }
        if (kept != null) return bodyOf(kept, file.mediaType)
        val name = file.name ?: "The file"
        throw RecapException(400, "FILE_LOST", "$name is not on this device any more. Send it again.")
    }

    private suspend fun take(id: String, stream: EventStream) {
        // It may have been discarded while it was on its way.
        val entry = entries[id] ?: return stream.close()
        val taken = entry.copy(state = Entry.State.TAKEN, seq = stream.seq, error = null)
        entries[id] = taken
        onTaken(taken, stream)
        put(taken)
        dropFiles(taken)
        val others = entries.values.filter { it.state == Entry.State.TAKEN }
        for (old in others.dropLast(TAKEN_MAX)) drop(old.id)
    }

    /** What a refusal changes. Throws it where the same is to be tried again after a pause. */
    private suspend fun refuse(id: String, error: RecapException) {
        // It was discarded, or is another user's, since it was sent.
        val entry = entries[id]?.takeIf { it.state == Entry.State.PENDING } ?: return
        val isQueueFull = error.reason == "TURN_IN_PROGRESS" &&
            entry.body["onBusy"]?.jsonPrimitive?.contentOrNull == "queue"
        when {
            error.reason == "UPLOAD_NOT_FOUND" && uploadedAnew.add(id) ->
                put(entry.copy(files = entry.files.map { it.copy(uploadId = null) }))
            error.isPassing -> {
                // Not written: why a try did not get through is of this moment.
                entries[id] = entry.copy(error = error.toMessageError().copy(isRetryable = true))
                onChange(entry.conversationId)
                throw error
            }
            // The queue of the service is full: there will be room.
            isQueueFull -> throw RecapException(503, error.reason, error.message, retryAfterMs = error.retryAfterMs)
            else -> put(entry.copy(state = Entry.State.FAILED, error = error.toMessageError()))
        }
    }

    /** Sends a message again that was refused, or whose answer failed; returns whether it is known here. */
    suspend fun retry(id: String): Boolean {
        val entry = entries[id] ?: return false
        if (entry.state == Entry.State.PENDING || core.otherUser != null) return true
        uploadedAnew -= id
        put(entry.copy(state = Entry.State.PENDING, error = null, isToStop = false))
        drain(entry.conversationId)
        return true
    }

    suspend fun markToStop(id: String) {
        entries[id]?.let { put(it.copy(isToStop = true)) }
    }

    /** What somebody typed over the store of another user is not sent as that user. */
    fun disown(error: RecapException) {
        for (entry in ownEntries) if (entry.id !in unkept) disown(entry, error)
    }

    private fun disown(entry: Entry, error: RecapException) {
        entries[entry.id] = entry.copy(state = Entry.State.FAILED, error = error.toMessageError())
        onChange(entry.conversationId)
        forget(entry)
    }

    /** Takes over what another store has not sent. */
    suspend fun takeOver(from: SafeStore) {
        loaded.join()
        for (key in from.keys(PREFIX)) {
            val found = from.read<Entry>(key)
            val fileKeys = found?.files.orEmpty().mapNotNull { it.key }
            if (found != null && found.state != Entry.State.TAKEN && found.id !in entries) {
                for (fileKey in fileKeys) from.get(fileKey)?.let { store.set(fileKey, it) }
                lastOrder += 1
                put(found.copy(order = lastOrder))
                drain(found.conversationId)
            }
            for (taken in fileKeys + key) from.delete(taken)
        }
    }
}
