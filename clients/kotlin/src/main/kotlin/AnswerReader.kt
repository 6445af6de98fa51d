package dev.recap

/** Replies after which the stored message tells the rest. */
private val STORED_CODES = setOf(403, 404, 410)

/** The stream of one answer. */
internal class AnswerReader(
    private val requester: Requester,
    private val life: Life,
    private val path: String,
    private val get: () -> LiveAnswer,
    /** With the event that changed it. */
    private val onChange: (LiveAnswer, StreamChunk?) -> Unit,
) {
    /**
     * Reads an answer until nothing more is to be read: the stored message is the truth. [first]: the reply that began the
     * turn, if it is to be read.
     */
    suspend fun read(first: EventStream?) {
        var begun = first
        life.keepReading({ get().lastEventId }) {
            val cursor = get().lastEventId
            try {
                val stream = begun ?: requester.stream("GET", path, mapOf("startingAfter" to cursor))
                begun = null
                readOnce(stream)
                true
            } catch (error: RecapException) {
                if (error.code in STORED_CODES) return@keepReading true
                if (error.code != 400) throw error
                // The cursor is not one of this turn: once more without it.
                onChange(get().copy(lastEventId = null), null)
                cursor == null
            }
        }
    }

    private suspend fun readOnce(stream: EventStream) {
        try {
            if (stream.code == 204) return
            // Without a cursor all of it comes again.
            if (get().lastEventId == null) onChange(LiveAnswer(get().state), null)
            var isDone = false
            stream.events.collect { event -> if (event.isDone) isDone = true else take(event) }
            if (!isDone) throw offline("the stream ended without [DONE]")
        } finally {
            stream.close()
        }
    }

    private fun take(event: ServerEvent) {
        // The service could not read on: what it says of that is not of the answer.
        val id = event.id ?: throw offline(event.data)
        val chunk = decode<StreamChunk>(event.data)
        onChange(get().with(chunk).copy(lastEventId = id), chunk)
    }
}
