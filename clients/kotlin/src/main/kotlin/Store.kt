package dev.recap

import java.io.File
import java.net.URLDecoder
import java.net.URLEncoder
import java.nio.file.Files
import java.nio.file.StandardCopyOption.*
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap
import kotlinx.coroutines.*
import kotlinx.coroutines.sync.*

/**
 * Texts under keys, of one user. What a write has returned from is there after the app was killed. It may throw what it
 * likes: then it was not read, or not written.
 */
interface RecapStore {
    suspend fun get(key: String): String?
    suspend fun set(key: String, value: String)
    suspend fun delete(key: String)
    /** Those that begin with [prefix], in their order. */
    suspend fun keys(prefix: String): List<String>
}

/** Nothing outlives the process. */
class MemoryStore : RecapStore {
    private val values = ConcurrentHashMap<String, String>()

    override suspend fun get(key: String) = values[key]
    override suspend fun set(key: String, value: String) = values.set(key, value)
    override suspend fun delete(key: String): Unit = values.remove(key).let {}
    override suspend fun keys(prefix: String) = values.keys.filter { it.startsWith(prefix) }.sorted()
}

/** A file that is not finished after so long was left by an app that was killed. */
private const val UNFINISHED_MS = 3_600_000

/** In files of a folder, such as one of Android's `filesDir`: one folder for each user. */
class FileStore(private val folder: File) : RecapStore {
    private val writing = Mutex()

    private fun fileOf(key: String) = File(folder, URLEncoder.encode(key, "UTF-8"))

    override suspend fun get(key: String): String? = withContext(Dispatchers.IO) {
        fileOf(key).takeIf { it.exists() }?.readText()
    }

    override suspend fun set(key: String, value: String) = write {
        folder.mkdirs()
        // A name that no key has: whoever is killed in the middle leaves the value before.
        val written = File(folder, "~${UUID.randomUUID()}")
        written.writeText(value)
        Files.move(written.toPath(), fileOf(key).toPath(), ATOMIC_MOVE, REPLACE_EXISTING)
    }

    override suspend fun delete(key: String) = write { Files.deleteIfExists(fileOf(key).toPath()) }

    private suspend fun write(work: () -> Unit) = writing.withLock { withContext(Dispatchers.IO) { work() } }

    override suspend fun keys(prefix: String): List<String> = withContext(Dispatchers.IO) {
        val (unfinished, kept) = folder.listFiles().orEmpty().partition { it.name.startsWith("~") }
        // Left by an app that was killed; a younger one may be on its way.
        unfinished.filter { it.lastModified() < System.currentTimeMillis() - UNFINISHED_MS }.forEach { it.delete() }
        kept.map { URLDecoder.decode(it.name, "UTF-8") }.filter { it.startsWith(prefix) }.sorted()
    }
}

/** The store of an app that may refuse. That costs no message, only that it outlives the app. */
internal class SafeStore(private val store: RecapStore) {
    suspend fun get(key: String): String? = trying(null) { store.get(key) }
    suspend fun set(key: String, value: String) = trying(Unit) { store.set(key, value) }
    suspend fun delete(key: String) = trying(Unit) { store.delete(key) }
    suspend fun keys(prefix: String): List<String> = trying(emptyList()) { store.keys(prefix) }

    /** What was kept under a key; null where there is nothing that can be read. */
    suspend inline fun <reified Value> read(key: String): Value? = try {
        get(key)?.let { json.decodeFromString<Value>(it) }
    } catch (_: IllegalArgumentException) {
        null
    }

    private suspend fun <Result> trying(refused: Result, work: suspend () -> Result): Result = try {
        work()
    } catch (_: Throwable) {
        currentCoroutineContext().ensureActive()
        refused
    }
}

/** Writes one value after the other; of a key that is saved again meanwhile the newest alone. */
internal class Saver(private val store: SafeStore, private val scope: CoroutineScope) {
    private val waiting = mutableMapOf<String, (() -> String)?>()
    private val writing = Mutex()
    private var isStopped = false

    /** [valueOf] is asked when it is written. Who has to know of that joins. */
    fun save(key: String, valueOf: () -> String): Job {
        if (!isStopped) waiting[key] = valueOf
        return write(key)
    }

    fun forget(key: String): Job {
        waiting[key] = null
        return write(key)
    }

    /** From now on nothing more is saved. */
    fun stop() {
        isStopped = true
        waiting.clear()
    }

    private fun write(key: String) = scope.launch {
        writing.withLock {
            if (key !in waiting) return@withLock
            val value = waiting.remove(key)?.invoke()
            if (value == null) store.delete(key) else store.set(key, value)
        }
    }
}
