import 'dart:async';
import 'dart:convert';
import 'dart:io';

import 'package:recap_client/recap_client.dart';

/* A client of the conformance suite: does what the judge says, and tells it what is shown. clients/conformance/README.md */

typedef Json = Map<String, Object?>;

Json _problem(Object error) => switch (error) {
  RecapException(:final reason, :final code, :final message) => {'reason': reason, 'code': code, 'message': message},
  _ => {'reason': 'NOT_A_RECAP_ERROR', 'code': -1, 'message': '$error'},
};

Json _error(MessageError error) => {
  'reason': error.reason,
  'message': error.message,
  'isRetryable': error.isRetryable,
  'resetTime': ?error.resetTime?.toIso8601String().replaceFirst('.000Z', 'Z'),
};

Json _part(MessagePart part) => switch (part) {
  TextPart(:final text) => {'type': 'text', 'text': text},
  FilePart(:final mediaType, :final name, :final uploadId, :final progress) => {
    'type': 'file',
    'mediaType': ?mediaType,
    'name': ?name,
    'uploadId': ?uploadId,
    'progress': ?progress,
  },
  ToolPart(:final callId, :final name, :final input, :final state, :final byService, :final output, :final error) => {
    'type': 'tool',
    'callId': callId,
    'name': name,
    'input': input,
    'state': state.name,
    'byService': byService,
    'output': ?output,
    'error': ?error,
  },
  SourcePart(:final url, :final title) => {'type': 'source', 'url': url, 'title': ?title},
  NoticePart(:final kind, :final details) => {'type': 'notice', 'kind': kind, 'details': details},
};

Json _message(Message message) => {
  'id': message.id,
  'role': message.role.name,
  'state': message.state.name,
  'parts': message.parts.map(_part).toList(),
  'text': message.text,
  'time': message.time.toIso8601String(),
  'seq': ?message.seq,
  if (message.error case final error?) 'error': _error(error),
  'finishReason': ?message.finishReason,
  if (message.outOfContext case final left?) 'outOfContext': {'reason': left.reason, 'replacedBy': ?left.replacedBy},
  if (message.isDeleted) 'isDeleted': true,
  'rating': ?message.rating?.name,
};

Json _chatState(ChatState state) => {
  'messages': state.messages.map(_message).toList(),
  'transcript': state.transcript.map(_message).toList(),
  'title': ?state.title,
  'context': ?state.context?.json,
  'hasOlder': state.hasOlder,
  'hasNewer': state.hasNewer,
  'isLoaded': state.isLoaded,
  'isAnswering': state.isAnswering,
  if (state.problem case final problem?) 'problem': _problem(problem),
};

Json _row(ConversationRow row) => {...row.json, 'pendingCount': row.pendingCount};

Json _listState(ListState state) => {
  'rows': state.rows.map(_row).toList(),
  'hasMore': state.hasMore,
  'isLoaded': state.isLoaded,
  if (state.problem case final problem?) 'problem': _problem(problem),
};

Tool _tool(Json script) {
  var runs = 0;
  final met = Completer<void>();
  return (input, call) async {
    if (script['throws'] case final String message) throw Exception(message);
    runs++;
    if (script['meets'] case final int count) {
      if (runs == count) met.complete();
      await met.future;
      return {'runs': count};
    }
    return script.containsKey('counts') ? {'runs': runs} : script['returns'];
  };
}

Timings _timings(Json given) {
  Duration time(Object? ms) => Duration(milliseconds: ms! as int);
  return Timings(
    silence: time(given['silenceMs']),
    call: time(given['callMs']),
    backOff: (given['backOffMs']! as List<Object?>).map(time).toList(),
    watch: time(given['watchMs']),
  );
}

/// As where the disk is full.
final class _RefusingStore implements RecapStore {
  Future<Never> _refuse() async => throw StateError('the disk is full');

  @override
  Future<String?> get(String key) => _refuse();
  @override
  Future<void> set(String key, String value) => _refuse();
  @override
  Future<void> delete(String key) => _refuse();
  @override
  Future<List<String>> keys(String prefix) => _refuse();
}

final class Driver(final String _control, final String _folder) {
  // The judge closes a connection that rests for five seconds, perhaps just when it is used again.
  final _http = HttpClient()..idleTimeout = const Duration(seconds: 3);
  Recap? _recap;
  final _chats = <String, Chat>{};
  // What is listened to, as an app does: chats by their ids, and lists.
  final _shown = <Object, StreamSubscription<Object>>{};
  Recap get _current => _recap ?? (throw StateError('there is no client'));
  Chat _chat(String id) => _chats[id] ??= _current.chat(id);
  RecapStore _store(Object? name) => '$name'.endsWith('refuses') ? _RefusingStore() : FileStore('$_folder/$name');

  /// Null where there is nothing to do.
  Future<Json?> _ask(String method, String path, [Json? body]) async {
    final request = await _http.openUrl(method, Uri.parse('$_control$path'));
    if (body != null) request.add(utf8.encode(jsonEncode(body)));
    final reply = await request.close();
    final text = await utf8.decodeStream(reply);
    if (reply.statusCode >= 400) throw HttpException('HTTP ${reply.statusCode}');
    return text.isEmpty ? null : jsonDecode(text) as Json;
  }

  Future<void> run() async {
    while (true) {
      final command = await _ask('GET', '/next');
      if (command != null) unawaited(_answer(command));
    }
  }

  Future<void> _answer(Json command) async {
    Json outcome;
    try {
      final {'name': name as String, 'value': value} = command;
      outcome = {'result': await _perform(name, command['chat'] as String? ?? '', value)};
    } catch (error, trace) {
      if (error is! RecapException) stderr.writeln('$error\n$trace');
      outcome = {'error': _problem(error)};
    }
    await _ask('POST', '/done', {'id': command['id'], ...outcome});
  }

  void _create(Json given) {
    _close();
    final appCheck = given['appCheck'] as String?;
    final context = given['context'] as Json?;
    _recap = Recap(
      baseUrl: given['baseUrl']! as String,
      getIdToken: (force) async => (await _ask('GET', '/token?force=$force'))!['token']! as String,
      store: _store(given['store']),
      getAppCheckToken: appCheck == null ? null : () async => appCheck,
      tools: {
        for (final MapEntry(:key, :value) in (given['tools'] as Json? ?? const {}).entries) key: _tool(value! as Json),
      },
      clientContext: context == null ? null : () => context,
      timings: _timings(given['timings']! as Json),
    );
  }

  void _close() {
    for (final each in _shown.values) each.cancel().ignore();
    _recap?.close();
    _recap = null;
    _chats.clear();
    _shown.clear();
  }

  ({String text, List<MessagePart> parts, List<FileInput> files, SendOptions options}) _given(Object? value) {
    final given = value is Json ? value : {'text': value is String ? value : null};
    return (
      text: given['text'] as String? ?? '',
      parts: [
        for (final part in (given['parts'] as List<Object?>? ?? const []).cast<Json>())
          part['type'] == 'text'
              ? TextPart(part['text']! as String)
              : FilePart(uploadId: part['uploadId'] as String?, url: part['url'] as String?),
      ],
      files: [
        for (final file in (given['files'] as List<Object?>? ?? const []).cast<Json>())
          FileInput(base64Decode(file['base64']! as String), file['type']! as String, name: file['name'] as String?),
      ],
      options: SendOptions(
        onBusy: OnBusy.values.asNameMap()[given['onBusy']],
        context: given['context'] as Json? ?? const {},
        retention: Retention.values.asNameMap()[given['retention']],
        responseSchema: given['responseSchema'] as Json?,
      ),
    );
  }

  Future<Object?> _perform(String name, String chatId, Object? value) async {
    switch (name) {
      case 'create':
        _create(value! as Json);
      case 'close':
        _close();
      case 'newChat':
        final chat = _current.chat();
        _chats[chat.id] = chat;
        return chat.id;
      case 'openList' || 'leaveList' || 'rows' || 'loadMore':
        return _performOnList(name, ListName.values.byName(value! as String));
      case 'search':
        final found = await _current.search(value! as String);
        return {
          'hits': [
            for (final hit in found.hits) {'seq': hit.seq, 'snippet': hit.snippet},
          ],
          'titles': found.titles.keys.toList(),
        };
      case 'claim':
        final {'guestToken': token as String, 'guestStore': store} = value! as Json;
        return {'conversations': await _current.claim(token, _store(store))};
      case 'register':
        final {'token': token as String, 'platform': platform as String} = value! as Json;
        await _current.push.register(token, platform, (value as Json)['locale'] as String?);
      case 'unregister':
        await _current.push.unregister();
      case 'setActive':
        _current.setActive(value! as bool);
      default:
        return _performOnChat(name, _chat(chatId), value);
    }
    return null;
  }

  Future<Object?> _performOnList(String name, ListName listName) async {
    final list = listName == ListName.active ? _current.conversations : _current.list(listName);
    switch (name) {
      case 'openList':
        _shown[listName] = list.rows.listen((_) {});
      case 'leaveList':
        await _shown.remove(listName)?.cancel();
      case 'rows':
        return _listState(list.state);
      default:
        await list.loadMore();
    }
    return null;
  }

  Future<Object?> _performOnChat(String name, Chat chat, Object? value) async {
    final given = value is Json ? value : const <String, Object?>{};
    final (:text, :parts, :files, :options) = _given(value);
    final Map<String, Future<Object?> Function()> commands = {
      'open': () async {
        _shown[chat.id] = chat.messages.listen((_) {});
        return null;
      },
      'leave': () async => _shown.remove(chat.id)?.cancel(),
      'state': () async => _chatState(chat.state),
      'send': () => chat.send(text, parts: parts, files: files, options: options),
      'edit': () => chat.edit(given['message']! as String, text, parts: parts, files: files, options: options),
      'approve': () => chat.approve(given['call']! as String, isAllowed: given['isAllowed']! as bool),
      'rate': () => chat.rate(given['message']! as String, Rating.values.byName(given['rating']! as String)),
      'regenerate': chat.regenerate,
      'retry': () => chat.retry(value! as String),
      'discard': () => chat.discard(value! as String),
      'stop': chat.stop,
      'loadOlder': () => chat.loadOlder(value! as int),
      'loadNewer': () => chat.loadNewer(value! as int),
      'loadAround': () => chat.loadAround(value! as int),
      'markRead': () => chat.markRead(value is int ? value : null),
      'refresh': chat.refresh,
      'rename': () => chat.rename(value! as String),
      'archive': () => chat.archive(isArchived: value! as bool),
      'pin': () => chat.pin(isPinned: value! as bool),
      'remove': chat.remove,
      'undelete': chat.undelete,
      'deleteMessage': () => chat.deleteMessage(value! as String),
    };
    return commands[name]!();
  }
}

/// Does what the judge at this address says until it is killed; its stores are in this folder.
Future<void> main(List<String> arguments) async {
  final [control, folder] = arguments;
  await Driver(control, folder).run();
}
