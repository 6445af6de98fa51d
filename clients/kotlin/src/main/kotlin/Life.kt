package dev.recap

import kotlin.random.Random
import kotlinx.coroutines.*
import kotlinx.coroutines.flow.*
import kotlinx.serialization.Serializable

/** Milliseconds. */
@Serializable
data class Timings(
    /** A connection without a byte for so long is lost. */
    val silenceMs: Long = 30_000,
    /** A call without an answer for so long is lost. */
    val callMs: Long = 30_000,
    /** Pauses between tries; the last one is that of all further ones. */
    val backOffMs: List<Long> = listOf(1_000, 2_000, 4_000, 8_000, 16_000, 30_000),
    /** Between looks at a compaction that is on its way. */
    val watchMs: Long = 2_000,
)

/** Pauses may be so much shorter or longer, so that not all devices come back at once. */
private const val SPREAD = 0.25

/** Whether the app is in front, and the pauses of all that waits in it. */
internal class Life(private val backOffMs: List<Long>) {
    /** Whether the app is in front. */
    val isActive = MutableStateFlow(true)
    private val wakes = MutableStateFlow(0)

    /** What waits is tried at once, and every stream is taken up anew. */
    fun wake() = wakes.update { it + 1 }

    private suspend fun awaitWake(since: Int) = wakes.first { it != since }

    /**
     * Waits for the next try after so many failures in a row: as the service asks, else ever longer. [since]: how often the
     * app had woken up before the try; whatever wakes it from then on ends the pause.
     */
    suspend fun pauseAfter(error: RecapException?, failures: Int, since: Int = wakes.value) {
        // A token that was refused may be taken after a longer pause.
        val place = if (error?.code == 401) backOffMs.size else failures.coerceAtMost(backOffMs.size)
        val spread = 1 + Random.nextDouble(-SPREAD, SPREAD)
        val ms = error?.retryAfterMs ?: (spread * backOffMs[place - 1]).toLong()
        withTimeoutOrNull(ms) { awaitWake(since) }
    }

    /** Tries until it works. Throws a [RecapException] that is final. */
    suspend fun <Result> untilDone(work: suspend () -> Result): Result {
        var failures = 0
        while (true) {
            val since = wakes.value
            try {
                return work()
            } catch (error: RecapException) {
                if (!error.isPassing) throw error
                failures += 1
                pauseAfter(error, failures, since)
            }
        }
    }

    /**
     * Reads a stream over as many connections as it takes. One that brought nothing new is followed by a pause.
     *
     * [cursor] is where the next connection goes on: another one is progress. [read] reads one connection, and returns whether
     * no further one is to be read.
     */
    suspend fun keepReading(
        cursor: () -> String?, onProblem: (RecapException) -> Unit = {}, read: suspend () -> Boolean,
    ) {
        var failures = 0
        var isOver = false
        while (true) {
            val before = cursor()
            val since = wakes.value
            val error = untilWoken(since) { isOver = read() }
            if (isOver) return
            failures = if (cursor() == before) failures + 1 else 0
            // Whoever comes back to the app does not know whether a connection still lives.
            if (wakes.value != since) continue
            if (error != null && (error.code != 0 || failures > 1)) onProblem(error)
            if (failures > 0) pauseAfter(error, failures, since)
        }
    }

    /** Ends the work when the app wakes up; returns what it failed with. */
    private suspend fun untilWoken(since: Int, work: suspend () -> Unit): RecapException? = coroutineScope {
        var failure: RecapException? = null
        val working = launch {
            try {
                work()
            } catch (error: RecapException) {
                failure = error
            }
        }
        val waking = launch {
            awaitWake(since)
            working.cancel()
        }
        working.join()
        waking.cancel()
        failure
    }
}
