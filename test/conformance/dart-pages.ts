import type { SourceFile } from './launchers/build-client.ts';
import { packagePages } from './package-pages.ts';

/** The parts of Flutter and of its packages that the pages use: they are not where the tests run. */
const FLUTTER = `
import 'dart:io';
import 'dart:typed_data';

/* package:flutter */
abstract class Listenable {}
mixin class ChangeNotifier implements Listenable {
  void notifyListeners() {}
  void dispose() {}
}
abstract class Key {}
abstract class BuildContext {}
abstract class Widget {
  const Widget({this.key});
  final Key? key;
}
abstract class StatelessWidget extends Widget {
  const StatelessWidget({super.key});
  Widget build(BuildContext context);
}
class AsyncSnapshot<T> {
  T get requireData => throw UnimplementedError();
}
class StreamBuilder<T> extends Widget {
  const StreamBuilder({super.key, this.initialData, required this.stream, required this.builder});
  final T? initialData;
  final Stream<T>? stream;
  final Widget Function(BuildContext context, AsyncSnapshot<T> snapshot) builder;
}
class ListView extends Widget {
  ListView({super.key, List<Widget> children = const []});
}
class Text extends Widget {
  const Text(String data, {super.key});
}
class AppLifecycleListener {
  AppLifecycleListener({void Function()? onResume, void Function()? onPause});
}

/* package:path_provider, firebase_auth, firebase_app_check */
Future<Directory> getApplicationSupportDirectory() => throw UnimplementedError();
abstract class User {
  String get uid;
  Future<String?> getIdToken([bool forceRefresh = false]);
}
class FirebaseAuth {
  static FirebaseAuth get instance => throw UnimplementedError();
  User? get currentUser => null;
}
class FirebaseAppCheck {
  static FirebaseAppCheck get instance => throw UnimplementedError();
  Future<String?> getToken([bool? forceRefresh]) => throw UnimplementedError();
}

/* package:flutter_ai_toolkit */
enum MessageOrigin { user, llm }
abstract class Attachment {
  const Attachment({required this.name});
  final String name;
}
class FileAttachment extends Attachment {
  const FileAttachment({required super.name, required this.mimeType, required this.bytes});
  final String mimeType;
  final Uint8List bytes;
}
class ChatMessage {
  ChatMessage({required MessageOrigin origin, required String? text, required Iterable<Attachment> attachments});
}
class LlmFailureException implements Exception {
  const LlmFailureException([String? message]);
}
abstract class LlmProvider implements Listenable {
  Stream<String> generateStream(String prompt, {Iterable<Attachment> attachments});
  Stream<String> sendMessageStream(String prompt, {Iterable<Attachment> attachments});
  Iterable<ChatMessage> get history;
  set history(Iterable<ChatMessage> history);
}
`;

/** What the pages leave to the app. */
const LEFT_TO_THE_APP = `
late Recap recap;
late Chat chat;
late String conversationId;
late String messageId;
late Uint8List bytes;
void showRows(List<ConversationRow> rows) {}
void showMessages(List<Message> messages) {}
`;

const FOLDER = 'test/pages';
const IMPORT = /^import .*\n/gm;
const isOfTheApp = (text: string) => /^class /m.test(text);

/** The blocks of a page: classes, and the rest in one function, each in a scope within that of the block before it. */
function pageFile(page: string, blocks: readonly string[]): SourceFile {
  const all = new Set([
    ...blocks.flatMap((text) => text.match(IMPORT) ?? []),
    "import 'dart:typed_data';\n",
    "import 'package:recap_client/recap_client.dart';\n",
  ]);
  const imports = [...all].filter((line) => /'(?:dart:|package:recap_client)/.test(line));
  const bodies = blocks.map((text) => text.replaceAll(IMPORT, ''));
  const steps = bodies.filter((text) => !isOfTheApp(text));
  return {
    name: `${FOLDER}/${page.toLowerCase().replaceAll(/\W/g, '_')}.dart`,
    text: [
      '// ignore_for_file: discarded_futures, directives_ordering, unused_local_variable',
      ...imports.map((line) => line.trim()),
      "import 'flutter.dart';",
      LEFT_TO_THE_APP,
      ...bodies.filter(isOfTheApp),
      'Future<void> paste() async {',
      steps.join('\n{\n'),
      '}'.repeat(Math.max(1, steps.length)),
    ].join('\n'),
  };
}

/** The Dart of every page and of the package's README as files to check, with what it needs of Flutter. */
export function dartPages(): { pages: string[]; files: SourceFile[] } {
  const { pages, files } = packagePages('dart', pageFile);
  return { pages, files: [{ name: `${FOLDER}/flutter.dart`, text: FLUTTER }, ...files] };
}
