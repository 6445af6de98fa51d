package dev.recap.android

import android.content.Context
import androidx.work.*
import com.google.firebase.messaging.FirebaseMessaging
import com.google.firebase.messaging.FirebaseMessagingService
import dev.recap.*
import java.io.File
import java.io.IOException
import kotlinx.coroutines.*
import kotlinx.coroutines.flow.*
import kotlinx.coroutines.tasks.await

/* What an app for Android has beside the client. It is copied into the app: README.md, "In the background". */

private const val SEND = "recap-send"
/** Android ends a worker after 10 minutes. */
private const val SEND_MS = 8 * 60_000L

/** The app's `Application`: work without a screen finds the client in it. */
interface RecapApplication {
    /** Of the user who is signed in; the same as long as the process runs. Null: nobody is. */
    val recap: Recap?
}

private fun recapOf(context: Context): Recap? = (context.applicationContext as RecapApplication).recap

/** In `filesDir`, of one user. What the app excludes from its backups should name this folder. */
fun userStore(context: Context, uid: String): RecapStore = FileStore(File(context.filesDir, "recap/$uid"))

/** Sends what waits, as soon as there is a network. */
class SendWorker(context: Context, parameters: WorkerParameters) : CoroutineWorker(context, parameters) {
    override suspend fun doWork(): Result {
        val recap = recapOf(applicationContext) ?: return Result.success()
        recap.wake()
        val isSent = withTimeoutOrNull(SEND_MS) { recap.pendingCount.first { it == 0 } } != null
        return if (isSent) Result.success() else Result.retry()
    }
}

/** To be run as long as the process: whatever waits is sent by [SendWorker], also when the app was closed meanwhile. */
suspend fun sendInBackground(context: Context, recap: Recap) {
    val isWaiting = recap.pendingCount.map { it > 0 }.distinctUntilChanged()
    isWaiting.collect { if (it) enqueue(context) }
}

private fun enqueue(context: Context) {
    val whenConnected = Constraints.Builder().setRequiredNetworkType(NetworkType.CONNECTED).build()
    val request = OneTimeWorkRequestBuilder<SendWorker>().setConstraints(whenConnected).build()
    // One that runs may be about to end.
    WorkManager.getInstance(context).enqueueUniqueWork(SEND, ExistingWorkPolicy.REPLACE, request)
}

/** Push messages reach this installation. To be called at every start: what fails is told to the service at the next one. */
suspend fun registerPush(recap: Recap, newToken: String? = null) {
    try {
        recap.push.register(newToken ?: FirebaseMessaging.getInstance().token.await())
    } catch (_: IOException) {
        // Google's services or Recap's cannot be reached.
    }
}

/** Firebase calls it on a thread of its own. */
class PushService : FirebaseMessagingService() {
    override fun onNewToken(token: String): Unit = runBlocking { recapOf(this@PushService)?.let { registerPush(it, token) } }
}
