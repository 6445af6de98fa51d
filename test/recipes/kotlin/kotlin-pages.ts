import type { SourceFile } from '../compile-recipes.ts';
import { pageBlocks } from '../page-modules.ts';

/** The parts of Firebase's libraries for Android that the pages call; they exist as Android archives alone. */
const ANDROID: Record<string, string> = {
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
abstract class FirebaseUser { abstract fun getIdToken(refresh: Boolean): Task<GetTokenResult> }
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
import java.util.UUID
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.last
import kotlinx.coroutines.flow.onEach
import kotlinx.serialization.json.JsonElement
import okhttp3.OkHttpClient

private const val CHAT_URL = ""
private lateinit var conversationId: String
private lateinit var text: String
private lateinit var messageId: String
private lateinit var newId: String
private lateinit var bytes: ByteArray
private lateinit var answer: Answer
private val shown = MutableStateFlow<Answer?>(null)
private suspend fun locate(input: JsonElement?): JsonElement = TODO()
`;

const IMPORT = /^import .*\n/gm;

/** The Kotlin blocks of a page in one function, each in a scope within that of the block before it. */
function pageFile(page: string, blocks: readonly string[]): SourceFile {
  const imports = new Set([LEFT_TO_THE_APP, ...blocks].flatMap((text) => text.match(IMPORT) ?? []));
  const bodies = blocks.map((text) => text.replaceAll(IMPORT, ''));
  const name = page.replaceAll(/\W/g, '_');
  return {
    name: `Page_${name}.kt`,
    text: [
      'package com.example.recap',
      ...imports,
      LEFT_TO_THE_APP.replaceAll(IMPORT, ''),
      `private suspend fun paste_${name}() {`,
      bodies.join('\nrun {\n'),
      '}'.repeat(blocks.length),
    ].join('\n'),
  };
}

/** The Kotlin of every page as files to compile, with what it needs of Android. */
export function kotlinPages(): { pages: string[]; files: SourceFile[] } {
  const blocks = pageBlocks().filter(({ language }) => language === 'kotlin');
  const pages = [...new Set(blocks.map(({ page }) => page))];
  const files = pages.map((page) =>
    pageFile(
      page,
      blocks.filter((block) => block.page === page).map(({ text }) => text),
    ),
  );
  const android = Object.entries(ANDROID).map(([name, text]) => ({
    name: `${name.replaceAll('.', '_')}.kt`,
    text: `package ${name}\n${text}\n`,
  }));
  return { pages, files: [...android, ...files] };
}
