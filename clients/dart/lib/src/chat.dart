part of 'recap.dart';

/// Of the device, such as `+02:00`: its name is for the app to tell.
String _timeZone() {
  final minutes = DateTime.now().timeZoneOffset.inMinutes;
  String pad(int number) => '$number'.padLeft(2, '0');
  return '${minutes < 0 ? '-' : '+'}${pad(minutes.abs() ~/ 60)}:${pad(minutes.abs() % 60)}';
}

/// Such as `de-DE`, of `de_DE.UTF-8`.
String _locale() {
  final name = Platform.localeName.split(RegExp('[.@]')).first.replaceAll('_', '-');
  return const {'C', 'POSIX'}.contains(name) ? 'en' : name;
}

/// One conversation. It is open while its [states] or its [messages] are listened to. What is said to throw throws
/// [RecapException].
interface class Chat._(final Recap _recap, final Reading _reading) {
  Outbox get _outbox => _recap._outbox;
  Inbox get _inbox => _recap._inbox;
  String get id => _reading.id;
  ChatState get state => _reading.shown.value;

  /// The latest one at once, then each newer one.
  Stream<ChatState> get states => _reading.shown.stream;
  late final Stream<List<Message>> messages = states.map((state) => state.messages);

  /// Completes with the message's id as soon as it is kept. Never fails: what comes of it is in its state.
  Future<String> send(
    String text, {
    List<FileInput> files = const [],
    List<MessagePart> parts = const [],
    SendOptions options = const SendOptions(),
  }) => _addMessage('/messages', _inputs(text, parts), files, options, OnBusy.queue);

  /// Says something else in place of a message of the user; all after it leaves the branch. Throws where it is not shown.
  Future<String> edit(
    String messageId,
    String text, {
    List<FileInput> files = const [],
    List<MessagePart> parts = const [],
    SendOptions options = const SendOptions(),
  }) => _edit(messageId, _inputs(text, parts), files, options);

  /// Answers the last message anew. Throws where there is none.
  Future<String> regenerate({Json context = const {}}) async {
    final last = state.messages.where((message) => message.role == Role.user && message.seq != null).lastOrNull;
    if (last == null) {
      throw RecapException(400, 'NOT_THE_LAST_ANSWER', 'There is no message that could be answered anew.');
    }
    final newId = _drawUuid();
    final body = {'id': newId, 'onBusy': OnBusy.interrupt.name, 'clientContext': _contextOf(context)};
    final path = '/messages/${last.id}:regenerate';
    return _add(newId, path, body, _inputs('', last.parts), const [], last.seq);
  }

  /// Sends a message again that failed, or whose answer did. Throws where it is not shown.
  Future<void> retry(String messageId) async {
    final transcript = state.transcript;
    final at = transcript.indexOf(_find(messageId));
    final asked = transcript[at].role == Role.user ? transcript[at] : transcript.elementAtOrNull(at - 1);
    if (asked == null) return;
    final answer = transcript.where((each) => each.role == Role.model && each.seq == asked.seq).firstOrNull;
    // It may have been answered meanwhile.
    if (asked.state != MessageState.failed && answer?.state != MessageState.failed) return;
    if (asked.seq case final seq?) _reading.forgetAnswer(seq);
    // Of a message that this device did not send, the words are sent again in its place.
    if (!await _outbox.retry(asked.id)) {
      await _edit(asked.id, _inputs('', asked.parts), const [], const SendOptions());
    }
  }

  /// Forgets a message that is not sent.
  Future<void> discard(String messageId) => _outbox.drop(messageId);

  /// Ends the answer that is being written; its text stays. Throws.
  Future<void> stop() async {
    final row = _inbox.row(id);
    final seq = _reading.unfinishedSeq ?? (row?.state == ConversationState.running ? row?.lastSeq : null);
    if (seq != null) return _cancel(seq);
    final pending = _outbox.of(id).where((entry) => entry.isPending).firstOrNull;
    if (pending != null) await _outbox.markToStop(pending.id);
  }

  /// Reads older ones; completes with whether there are more. Throws.
  Future<bool> loadOlder([int count = 30]) => _reading.loadOlder(count);

  /// The same, behind the last one after [loadAround].
  Future<bool> loadNewer([int count = 30]) => _reading.loadNewer(count);

  /// Shows the messages around a turn. Throws.
  Future<void> loadAround(int seq) => _reading.loadAround(seq);

  /// Shows the newest ones again. Throws.
  Future<void> loadNewest() => _reading.loadNewest();

  /// The answers up to the last message shown, or [seq], were seen. Never fails.
  Future<void> markRead([int? seq]) =>
      _inbox.markRead(id, seq ?? state.messages.fold(0, (last, message) => max(last, message.seq ?? 0)));

  /// Allows a call of the service's tool, or does not. Throws.
  Future<void> approve(String callId, {required bool isAllowed}) async {
    final seq = int.tryParse(callId.split('_').elementAtOrNull(1) ?? '');
    if (seq == null) throw RecapException(400, 'BAD_FIELD', '$callId is the id of no call.');
    await _reading.giveResults(seq, [
      {'callId': callId, 'approved': isAllowed},
    ]);
  }

  /// Reads again what may have changed. Throws.
  Future<void> refresh() => _reading.refresh();

  /* These change it in the list, too. They throw. */

  Future<void> rename(String title) async {
    await _change({'title': title});
    _reading.rename(title);
  }

  Future<void> archive({bool isArchived = true}) => _change({'archived': isArchived});

  Future<void> pin({bool isPinned = true}) => _change({'pinned': isPinned});

  /// Into the bin for 30 days.
  Future<void> remove() => _inbox.change(id, {'deleteTime': _now}, () => call('DELETE', ''));

  Future<void> undelete() => _inbox.change(id, {'deleteTime': null}, () => call('POST', ':undelete'));

  /* These throw, too. */

  Future<void> deleteMessage(String messageId) async {
    final seq = state.transcript.where((message) => message.id == messageId).firstOrNull?.seq;
    await call('DELETE', '/messages/$messageId');
    if (seq != null) await _reading.readAgain(seq);
  }

  Future<void> rate(String messageId, Rating rating, {String? comment}) async {
    await call('PUT', '/messages/$messageId/feedback', body: {'rating': rating.name, 'comment': ?comment});
    if (int.tryParse(messageId.replaceFirst('m_', '')) case final seq?) await _reading.readAgain(seq);
  }

  Future<void> compact() async {
    await call('POST', ':compact', body: const {});
    await _reading.watchCompaction();
  }

  /// Any other call of it, such as `('GET', '/context')`. Throws.
  Future<Json> call(String method, String path, {Map<String, Object?> query = const {}, Json? body}) =>
      _reading.call(method, path, query: query, body: body);

  String get _now => _recap.now.toIso8601String();

  List<Json> _inputs(String text, List<MessagePart> parts) => [
    if (text.isNotEmpty) {'type': 'text', 'text': text},
    for (final part in parts) ?inputOf(part),
  ];

  Json _contextOf(Json given) => {
    'timeZone': _timeZone(),
    'locale': _locale(),
    ...?_recap._core.clientContext?.call(),
    ...given,
  };

  Message _find(String messageId) => state.transcript.firstWhere(
    (message) => message.id == messageId,
    orElse: () => throw RecapException(404, 'MESSAGE_NOT_FOUND', 'This chat shows no message $messageId.'),
  );

  Future<String> _edit(String messageId, List<Json> inputs, List<FileInput> files, SendOptions options) async {
    final replaced = _find(messageId).seq;
    if (replaced == null) {
      // The service does not have it: the new one is sent in its place.
      await _outbox.drop(messageId);
      return _addMessage('/messages', inputs, files, options, OnBusy.queue);
    }
    return _addMessage('/messages/$messageId:edit', inputs, files, options, OnBusy.interrupt, replaced);
  }

  Future<String> _addMessage(
    String path,
    List<Json> inputs,
    List<FileInput> files,
    SendOptions options,
    OnBusy onBusy, [
    int? replaces,
  ]) async {
    final messageId = _drawUuid();
    final body = {
      'message': {'id': messageId, 'parts': inputs, 'retention': ?options.retention?.name},
      'onBusy': (options.onBusy ?? onBusy).name,
      'responseSchema': ?options.responseSchema,
      'clientContext': _contextOf(options.context),
    };
    return _add(messageId, path, body, inputs, files, replaces);
  }

  Future<String> _add(
    String newId,
    String path,
    Json body,
    List<Json> parts,
    List<FileInput> files,
    int? replaces,
  ) async {
    // What is no JSON throws here, and not at each try.
    jsonEncode(body);
    _reading.loadNewest().ignore();
    final about = {'id': newId, 'conversationId': id, 'path': path, 'time': _now, 'replaces': ?replaces};
    await _outbox.add(Entry({...about, 'body': body, 'parts': parts, 'state': EntryState.pending.name}), files);
    return newId;
  }

  Future<void> _cancel(int seq) async {
    try {
      await _recap._core.life.untilDone(() => call('POST', '/turns/t_$seq:cancel'));
    } on RecapException catch (error) {
      // It has ended meanwhile.
      if (error.reason != 'TURN_FINISHED') rethrow;
    }
  }

  Future<void> _change(Json fields) =>
      _inbox.change(id, fields, () => call('PATCH', '', query: {'updateMask': fields.keys.join(',')}, body: fields));

  /// The service has a message.
  void _taken(Entry entry, EventStream stream) {
    final seq = entry.seq!;
    if (entry.isToStop) _cancel(seq).ignore();
    _reading.taken(seq, stream);
  }
}
