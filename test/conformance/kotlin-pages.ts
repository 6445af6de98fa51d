import { readFileSync } from 'node:fs';
import type { SourceFile } from './launchers/build-client.ts';
import { packagePages } from './package-pages.ts';

/** The parts of libraries for Android that the pages call; they exist as Android archives alone. */
const ANDROID: Record<string, string> = {
  'android.content': `
abstract class Context {
    val applicationContext: Context get() = TODO()
    val filesDir: java.io.File get() = TODO()
}`,
  'android.app': `
import android.content.Context
abstract class Application : Context() { open fun onCreate() {} }
abstract class Service : Context()`,
  'androidx.work': `
import android.content.Context
abstract class WorkerParameters
abstract class ListenableWorker(val applicationContext: Context) {
    class Result { companion object { fun success(): Result = TODO(); fun retry(): Result = TODO() } }
}
abstract class CoroutineWorker(context: Context, parameters: WorkerParameters) : ListenableWorker(context) {
    abstract suspend fun doWork(): Result
}
enum class NetworkType { CONNECTED }
enum class ExistingWorkPolicy { REPLACE }
class Constraints {
    class Builder {
        fun setRequiredNetworkType(type: NetworkType): Builder = TODO()
        fun build(): Constraints = TODO()
    }
}
class OneTimeWorkRequest {
    class Builder {
        fun setConstraints(constraints: Constraints): Builder = TODO()
        fun build(): OneTimeWorkRequest = TODO()
    }
}
inline fun <reified Worker : ListenableWorker> OneTimeWorkRequestBuilder(): OneTimeWorkRequest.Builder = TODO()
abstract class WorkManager {
    abstract fun enqueueUniqueWork(name: String, policy: ExistingWorkPolicy, request: OneTimeWorkRequest): Any
    companion object { fun getInstance(context: Context): WorkManager = TODO() }
}`,
  'com.google.android.gms.tasks': 'interface Task<T>',
  'kotlinx.coroutines.tasks':
    'suspend fun <T> com.google.android.gms.tasks.Task<T>.await(): T = TODO()',
  'kotlinx.coroutines.reactive': `
interface Publisher<T>
fun <T : Any> Publisher<T>.asFlow(): kotlinx.coroutines.flow.Flow<T> = TODO()`,
  'com.google.firebase': 'object Firebase',
  'com.google.firebase.auth': `
import com.google.android.gms.tasks.Task
class GetTokenResult { val token: String? = null }
abstract class FirebaseUser {
    abstract val uid: String
    abstract fun getIdToken(refresh: Boolean): Task<GetTokenResult>
}
abstract class FirebaseAuth {
    abstract val currentUser: FirebaseUser?
    companion object { fun getInstance(): FirebaseAuth = TODO() }
}`,
  'com.google.firebase.appcheck': `
import com.google.android.gms.tasks.Task
abstract class AppCheckToken { abstract val token: String }
abstract class FirebaseAppCheck {
    abstract fun getAppCheckToken(refresh: Boolean): Task<AppCheckToken>
    companion object { fun getInstance(): FirebaseAppCheck = TODO() }
}`,
  'com.google.firebase.messaging': `
import com.google.android.gms.tasks.Task
abstract class FirebaseMessaging {
    abstract val token: Task<String>
    companion object { fun getInstance(): FirebaseMessaging = TODO() }
}
abstract class FirebaseMessagingService : android.app.Service() { open fun onNewToken(token: String) {} }`,
  'com.google.firebase.functions': `
import kotlinx.coroutines.reactive.Publisher
abstract class HttpsCallableResult { abstract val data: Any? }
sealed class StreamResponse {
    class Message(val message: HttpsCallableResult) : StreamResponse()
    class Result(val result: HttpsCallableResult) : StreamResponse()
}
abstract class HttpsCallableReference {
    abstract fun withTimeout(timeout: Long, units: java.util.concurrent.TimeUnit): HttpsCallableReference
    abstract fun stream(data: Any?): Publisher<StreamResponse>
}
abstract class FirebaseFunctions {
    abstract fun getHttpsCallableFromUrl(url: java.net.URL): HttpsCallableReference
}
val com.google.firebase.Firebase.functions: FirebaseFunctions get() = TODO()`,
};

/** What the pages leave to the app, and what an editor imports by itself. */
const LEFT_TO_THE_APP = `
import dev.recap.*
import java.io.File
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.launch

private const val CHAT_URL = ""
private lateinit var filesDir: File
private lateinit var scope: CoroutineScope
private lateinit var recap: Recap
private lateinit var chat: Chat
private lateinit var conversationId: String
private lateinit var messageId: String
private lateinit var bytes: ByteArray
private fun clientOf(store: RecapStore): Recap = recap
private fun showRows(rows: List<Row>) {}
private fun showMessages(messages: List<Message>) {}
`;

const IMPORT = /^import .*\n/gm;

/** The Kotlin blocks of a page in one function, each in a scope within that of the block before it. */
function pageFile(page: string, blocks: readonly string[]): SourceFile {
  const imports = new Set([LEFT_TO_THE_APP, ...blocks].flatMap((text) => text.match(IMPORT) ?? []));
  const bodies = blocks.map((text) => text.replaceAll(IMPORT, ''));
  const name = page.replaceAll(/\W/g, '_');
  return {
    name: `src/test/kotlin/Page_${name}.kt`,
    text: [
      `package page.${name}`,
      ...imports,
      LEFT_TO_THE_APP.replaceAll(IMPORT, ''),
      `private suspend fun paste() {`,
      bodies.join('\nrun {\n'),
      '}'.repeat(blocks.length),
    ].join('\n'),
  };
}

const LAYER = new URL('../../clients/kotlin/android/RecapAndroid.kt', import.meta.url);

/** The Kotlin of every page, of the package's README and of its layer for Android, with what they need of Android. */
export function kotlinPages(): { pages: string[]; files: SourceFile[] } {
  const { pages, files } = packagePages('kotlin', pageFile);
  const android = Object.entries(ANDROID).map(([name, text]) => ({
    name: `src/test/kotlin/${name.replaceAll('.', '_')}.kt`,
    text: `package ${name}\n${text}\n`,
  }));
  const layer = { name: 'src/test/kotlin/RecapAndroid.kt', text: readFileSync(LAYER, 'utf8') };
  return { pages, files: [...android, layer, ...files] };
}
