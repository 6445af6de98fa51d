import 'dart:async';
import 'dart:convert';
import 'dart:math';

import 'answers.dart';
import 'core.dart';
import 'exception.dart';
import 'inbox.dart';
import 'json.dart';
import 'life.dart';
import 'model.dart';
import 'outbox.dart';
import 'requester.dart';
import 'store.dart';
import 'transcript.dart';
import 'wire.dart';

// Messages that are read at once when a chat opens, and that are kept.
const _newestMessages = 50;
// Turns of a page of the API.
const _pageTurns = 50;
// Turns in memory; what is dropped at the other end is read again when it is scrolled to.
const _turnsMax = 1000;
// Who has missed more turns begins anew from the newest.
const _catchUpTurnsMax = 100;
// Turns on each side of one that is jumped to.
const _aroundTurns = 12;
// Replies to a stream after which the stored message tells the rest.
const _storedCodes = {403, 404, 410};
// Of an error's message that a tool throws, characters that the API takes.
const _toolErrorMax = 1000;

String keptKey(String id) => 'chat/$id';

/// How long to pause before the next look at the context; null: no compaction is under way.
Duration? _watchPace(ContextState? context, Duration unchanged, Duration watch) {
  if (context == null) return null;
  // One that shows nothing new for longer waits for its next try.
  if (const {'QUEUED', 'RUNNING', 'VERIFYING'}.contains(context.compactionState)) {
    return unchanged < const Duration(minutes: 1) ? watch : watch * 5;
  }
  // One that is due begins within seconds; after that it is one that is not due.
  final isDue = context.tokens >= (context.thresholdTokens ?? double.infinity);
  return isDue && unchanged < const Duration(seconds: 15) ? watch : null;
}

/// What is shown of a conversation: kept, read, and followed while somebody looks.
final class Reading(
  final Core _core,
  final Outbox _outbox,
  final Inbox _inbox,
  final String id, {
  required bool isNew,
  // It is looked at: of the chats that are kept it is the last to be forgotten.
  required final void Function() _onOpen,
}) {
  late final Shown<ChatState> shown = Shown(_show, onFirst: _enter, onNone: _leave);
  late final _base = '/v1/conversations/$id';
  Turns _turns = Turns.none;
  final _live = <int, LiveAnswer>{};
  // Replies that began a turn and are not read yet.
  final _begun = <int, EventStream>{};
  final _callsRun = <String>{};
  String? _title;
  ContextState? _context;
  int _erasedCount = 0;
  // Until its first message is taken there is nothing to read.
  bool _hasBegun = !isNew;
  bool _isLoaded = false;
  bool _hasNewer = false;
  bool _isHidden = false;
  RecapException? _problem;
  // Of who looks; null while nobody does.
  Interest? _looking;
  // The turn whose stream is read.
  int? _followed;
  bool _isFollowing = false;
  Future<void> _lastRead = Future.value();
  Timer? _watcher;
  DateTime _movedAt = DateTime.now();

  bool get isOpen => _looking != null;

  ChatState _show() {
    final transcript = Transcript(_turns, _live, _outbox.of(id), _outbox.progressOf);
    return ChatState(
      messages: transcript.current,
      transcript: transcript.all,
      title: _title,
      context: _context,
      hasOlder: _turns.first > 1,
      hasNewer: _hasNewer,
      isLoaded: _isLoaded,
      problem: _problem,
    );
  }

  void changed() => shown.changed();

  Future<Json> call(String method, String path, {Query query = const {}, Json? body}) =>
      _core.requester.call(method, '$_base$path', query: query, body: body);

  /* What is kept. */

  void _keep() {
    // What is kept is shown without a connection: the newest.
    if (_hasNewer || _isHidden) return;
    // As it is now: when it is written, other messages may be shown.
    final messages = Turns.of([..._turns.messages, ..._streamed]).messages;
    final kept = {
      'messages': messages.skip(max(0, messages.length - _newestMessages)).toList(),
      'title': ?_title,
      'context': ?_context?.json,
      'erasedCount': _erasedCount,
    };
    _core.saver.save(keptKey(id), () => kept).ignore();
  }

  /// The text of answers whose stored messages were not read yet.
  List<StoredMessage> get _streamed => [
    for (final MapEntry(key: seq, value: answer) in _live.entries)
      StoredMessage({
        'id': 'm_$seq',
        'seq': seq,
        'role': Role.model.name,
        'parts': [
          for (final part in answer.parts.values)
            if (part is TextPart) inputOf(part),
        ],
        'state': answer.isUnfinished ? 'running' : 'done',
        'createTime': _core.requester.now.toIso8601String(),
      }),
  ];

  Future<void> _showKept() async {
    final kept = _isLoaded ? null : await readKept<Json>(_core.store, keptKey(id));
    if (kept == null || !_turns.isEmpty || _isHidden) return;
    _turns = Turns.of(listOf(kept['messages']));
    _title = kept['title'] as String?;
    if (kept['context'] case final Json context) _context = ContextState(context);
    _erasedCount = kept['erasedCount']! as int;
  }

  /// Nothing is left of it.
  Future<void> gone() {
    _empty();
    return _core.saver.forget(keptKey(id));
  }

  /// Shows nothing of what is kept: it is another user's.
  void hide() {
    _isHidden = true;
    _empty();
  }

  void _empty() {
    _turns = Turns.none;
    _live.clear();
    _title = _context = null;
    changed();
  }

  /* Looking. */

  void _enter() {
    final looking = _looking = Interest();
    _inbox.use();
    unawaited(_open(looking));
  }

  Future<void> _open(Interest looking) async {
    _movedAt = DateTime.now();
    await _outbox.loaded;
    await _showKept();
    changed();
    _onOpen();
    await _readUntilDone(looking);
    await _follow();
    _watchContext();
  }

  void _leave() {
    close();
    _inbox.release();
  }

  void close() {
    _looking?.end();
    _looking = null;
    for (final stream in _begun.values) stream.close();
    _begun.clear();
    _watcher?.cancel();
    // An app may open any number of chats: of one that is closed as much stays as is kept.
    _turns = _hasNewer ? Turns.none : _turns.newest(_newestMessages ~/ 2);
    _isLoaded &= !_hasNewer;
    _hasNewer = false;
  }

  /* Reading. */

  Future<List<StoredMessage>> _readPage(Query query) async =>
      listOf((await call('GET', '/messages', query: query))['messages']);

  /// The turns from [from] to [upTo]; as many as a page has, at most.
  Future<Turns> _readTurns(int from, int upTo) async {
    final pageSize = 2 * min(_pageTurns, upTo - from + 1);
    final messages = await _readPage({'afterSeq': from - 1, 'pageSize': pageSize});
    return Turns.of(messages.where((message) => message.seq <= upTo));
  }

  Future<void> _mergeTurn(int seq) async {
    final read = await _readTurns(seq, seq);
    _turns += read;
  }

  Future<void> _readNewest() async {
    _turns = Turns.of(await _readPage({'order': 'desc', 'pageSize': _newestMessages})).whole;
    _hasNewer = false;
  }

  /// Reads what came, or may have changed, since it was read.
  Future<void> _readChanges() async {
    final newest = [_inbox.row(id)?.lastSeq ?? 0, ..._begun.keys].reduce(max);
    if (newest - _turns.last > _catchUpTurnsMax) return _readNewest();
    // The last turn may have been answered once more.
    var from = _turns.open.firstOrNull ?? max(1, _turns.last);
    // So were older ones that were asked for again; one that is not shown is read with its page.
    _live.removeWhere((seq, _) => seq < from && !_turns.has(seq));
    for (final seq in _live.keys.where((seq) => seq < from).toList()) await _mergeTurn(seq);
    for (var isWhole = false; !isWhole; from = _turns.last + 1) {
      final upTo = from + _pageTurns - 1;
      final read = await _readTurns(from, upTo);
      _turns = _turns.joined(read).newest(_turnsMax);
      isWhole = read.last < upTo;
    }
  }

  /// Forgets what was streamed before the messages were read that tell more, and entries whose answer ended well.
  void _settle(Map<int, LiveAnswer> before) {
    final unfinished = _turns.open.toSet();
    bool isOver(int seq) => _turns.has(seq) && !unfinished.contains(seq);
    _live.removeWhere((seq, answer) => isOver(seq) && seq != _followed && identical(before[seq], answer));
    for (final entry in _outbox.of(id)) {
      final seq = entry.seq ?? 0;
      final isWell = isOver(seq) && _turns[seq]?.user?.state != 'failed';
      if (entry.state == EntryState.taken && isWell) _outbox.drop(entry.id).ignore();
    }
  }

  Future<void> _readAbout() async {
    final (titleBefore, contextBefore) = (_title, _context);
    final about = await call('GET', '');
    final context = about['context'] as Json?;
    // What an answer has told meanwhile is newer.
    if (_title == titleBefore) _title = about['title'] as String?;
    if (_context == contextBefore) _context = context == null ? null : ContextState(context);
  }

  Future<void> _readAll() async {
    if (!_hasBegun) {
      _isLoaded = true;
      return;
    }
    final before = {..._live};
    try {
      if (!_isLoaded) {
        await _readNewest();
      } else if (!_hasNewer) {
        await _readChanges();
      }
      _settle(before);
      for (final seq in _turns.waiting) _runCalls(seq).ignore();
      await _readAbout();
    } on RecapException catch (error) {
      // It begins with its first message.
      if (error.reason != 'CONVERSATION_NOT_FOUND') rethrow;
      _turns = Turns.none;
    }
    _isLoaded = true;
    _keep();
  }

  /// One after the other: what is read later is newer. Throws [RecapException].
  Future<void> _inTurn(Future<void> Function() work) {
    Future<void> read() async {
      try {
        await work();
        _problem = null;
      } catch (error) {
        throw _problem = offline(error);
      } finally {
        changed();
      }
    }

    final done = _lastRead.then((_) => read());
    _lastRead = done.then((_) {}, onError: (_) {});
    return done;
  }

  /// Reads what may have changed, and follows what is being answered. Throws [RecapException].
  Future<void> refresh() async {
    await _inTurn(_readAll);
    unawaited(_follow());
  }

  /// Reads until it works; what is final is the problem.
  Future<void> _readUntilDone(Interest looking) =>
      _core.life.untilDone(() => _inTurn(_readAll), looking).then((_) {}, onError: (_) {});

  Future<void> readAgain(int seq) => _inTurn(() async {
    await _mergeTurn(seq);
    _keep();
  });

  Future<bool> loadOlder(int count) async {
    await _inTurn(() async {
      final first = _turns.first;
      if (first <= 1) return;
      final older = await _readTurns(max(1, first - (count / 2).ceil()), first - 1);
      final all = _turns.joined(older);
      _turns = all.oldest(_turnsMax);
      _hasNewer |= _turns.length < all.length;
    });
    return shown.value.hasOlder;
  }

  Future<bool> loadNewer(int count) async {
    await _inTurn(() async {
      if (!_hasNewer) return;
      final upTo = _turns.last + (count / 2).ceil();
      final newer = await _readTurns(_turns.last + 1, upTo);
      _turns = _turns.joined(newer).newest(_turnsMax);
      _hasNewer = newer.has(upTo);
    });
    unawaited(_follow());
    return _hasNewer;
  }

  Future<void> loadAround(int seq) => _inTurn(() async {
    final upTo = seq + _aroundTurns;
    _turns = await _readTurns(max(1, seq - _aroundTurns), upTo);
    _hasNewer = _turns.has(upTo);
    _isLoaded = true;
  });

  /// Shows the newest messages, where older ones are shown. Throws [RecapException].
  Future<void> loadNewest() async {
    if (!_hasNewer) return;
    _isLoaded = false;
    await refresh();
  }

  void rename(String title) {
    _title = title;
    changed();
  }

  /* Following answers. */

  /// Turns that are being answered, or wait to be, as the messages say or as their streams do.
  List<int> get _unfinished => {
    ..._turns.running,
    for (final MapEntry(key: seq, value: answer) in _live.entries)
      if (answer.isUnfinished) seq,
  }.toList()..sort();

  /// The turn that is being answered, or waits to be.
  int? get unfinishedSeq => _unfinished.firstOrNull ?? _turns.waiting.firstOrNull ?? _followed;

  /// Follows one answer after the other, while somebody looks.
  Future<void> _follow() async {
    final looking = _looking;
    if (looking == null || _isFollowing || _hasNewer) return;
    _isFollowing = true;
    int? last;
    var looks = 0;
    while (!looking.hasEnded && !_core.life.isClosed) {
      final seq = _unfinished.firstOrNull;
      if (seq == null) break;
      // One that is still running behind the end of its stream is looked at again, but not at once.
      looks = last == seq ? looks + 1 : 0;
      last = seq;
      if (looks > 0) await _core.life.pauseAfter(null, looks);
      _followed = seq;
      await _readAnswer(seq, looking);
      _followed = null;
      _keep();
      if (!looking.hasEnded) await _readUntilDone(looking);
    }
    _isFollowing = false;
    // Somebody came back meanwhile.
    if (looking.hasEnded) return _follow();
    _watchContext();
  }

  /// Reads an answer until nothing more is to be read: the stored message is the truth.
  Future<void> _readAnswer(int seq, Interest looking) async {
    var first = _begun.remove(seq);
    LiveAnswer answer() => _live[seq] ?? const LiveAnswer(MessageState.queued);

    void take(ServerEvent event) {
      final chunk = jsonDecode(event.data) as Json;
      final id = event.id;
      // The service could not read on: what it says of that is not of the answer.
      if (id == null) throw offline(event.data);
      _live[seq] = answer().after(chunk, id);
      if (chunk['type'] == 'data-context') _context = ContextState(chunk['data']! as Json);
      if (chunk['type'] == 'data-title') _title = (chunk['data']! as Json)['title'] as String? ?? _title;
      changed();
    }

    Future<EventStream> begin(Query query) =>
        _core.requester.stream('GET', '$_base/turns/t_$seq/stream', query: query, interest: looking);

    await keepReading(
      life: _core.life,
      interest: looking,
      cursor: () => answer().lastEventId,
      read: (hold) async {
        final cursor = answer().lastEventId;
        try {
          final stream = first ?? await begin({'startingAfter': cursor});
          first = null;
          hold(stream);
          if (stream.code == 204) {
            stream.close();
            return true;
          }
          // Without a cursor all of it comes again.
          if (cursor == null) _live[seq] = LiveAnswer(answer().state);
          if (await stream.read(take)) return true;
          throw offline('the stream ended without [DONE]');
        } on RecapException catch (error) {
          if (_storedCodes.contains(error.code)) return true;
          if (error.code != 400) rethrow;
          // The cursor is not one of this turn: once more without it.
          _live[seq] = answer().withoutCursor();
          return cursor == null;
        }
      },
    );
    first?.close();
  }

  /// The service has a message: whoever looks reads its answer, one after the other.
  void taken(int seq, EventStream stream) {
    _hasBegun = true;
    _live[seq] = const LiveAnswer(MessageState.queued);
    if (isOpen && !_isFollowing) {
      _begun[seq] = stream;
    } else {
      stream.close();
    }
    changed();
    unawaited(_follow());
  }

  /// An answer is asked for again.
  void forgetAnswer(int seq) => _live.remove(seq);

  /* A compaction. */

  /// Looks again while one is on its way: no stream tells of its end.
  void _watchContext() {
    _watcher?.cancel();
    final pace = _watchPace(_context, DateTime.now().difference(_movedAt), _core.timings.watch);
    if (!isOpen || pace == null) return;
    _watcher = Timer(pace, () async {
      final before = jsonEncode(_context?.json);
      try {
        await _readAbout();
        if (jsonEncode(_context?.json) != before) {
          _movedAt = DateTime.now();
          changed();
          _keep();
        }
      } on RecapException {
        // It is read again.
      }
      _watchContext();
    });
  }

  /// One was asked for.
  Future<void> watchCompaction() async {
    await _readAbout();
    _movedAt = DateTime.now();
    changed();
    _watchContext();
  }

  /* Calls of tools. */

  /// Runs what the model asks of the app, on the device that sent the message.
  Future<void> _runCalls(int seq) async {
    final (:user, :answer) = _turns[seq]!;
    if (_outbox.find(user?.id ?? '')?.state != EntryState.taken) return;
    final calls = [
      for (final call in answer?.openCalls ?? const <OpenCall>[])
        if (call.wants == 'output' && _callsRun.add(call.callId)) call,
    ];
    if (calls.isEmpty) return;
    try {
      await giveResults(seq, await Future.wait(calls.map(_runTool)));
    } on RecapException catch (error) {
      _problem = error;
      changed();
    }
  }

  Future<Json> _runTool(OpenCall call) async {
    final OpenCall(:callId, :name) = call;
    final tool = _core.tools[name];
    if (tool == null) return {'callId': callId, 'error': 'This version of the app has no tool $name.'};
    try {
      final output = await tool(call.args, (conversationId: id, callId: callId));
      // Throws here what is no JSON.
      return {'callId': callId, 'output': jsonDecode(jsonEncode(output))};
    } catch (error) {
      final message = '$error'.replaceFirst(RegExp('^Exception: '), '');
      final text = message.isEmpty ? 'The tool failed.' : message;
      return {'callId': callId, 'error': text.substring(0, min(text.length, _toolErrorMax))};
    }
  }

  /// Sends results until they are taken. Throws [RecapException].
  Future<void> giveResults(int seq, List<Json> results) => _core.life.untilDone(() async {
    final body = jsonEncode({'results': results});
    // Its stream goes on where the turn's did: it is read there.
    (await _core.requester.stream('POST', '$_base/turns/t_$seq/toolResults', body: body)).close();
    await refresh();
  });

  /* What other devices did. */

  /// Its row has changed. Completes when nothing is kept that was erased.
  Future<void> hear(UserEvent event) async {
    final row = event.conversation;
    final erased = event.erased;
    _hasBegun = true;
    if (erased != null) await _forgetErased(erased.count);
    final looking = _looking;
    if (looking == null) return;
    _title = row.title ?? _title;
    changed();
    if (erased != null) _core.life.untilDone(() => _readErased(erased), looking).ignore();
    final hasFailed = _turns[_turns.last]?.user?.state == 'failed';
    final lastState = hasFailed ? ConversationState.failed : ConversationState.idle;
    final isKnown = row.lastSeq <= _turns.last && row.state == lastState;
    // The end of what is followed is read anyway.
    if (_isLoaded && !_isFollowing && !isKnown) unawaited(_readUntilDone(looking).then((_) => _follow()));
  }

  /// Reads turns again of which something was erased.
  Future<void> _readErased(({int count, List<int> seqs}) erased) async {
    final newCount = erased.count - _erasedCount;
    if (newCount <= 0) return;
    if (newCount > erased.seqs.length) {
      _isLoaded = false;
      await refresh();
    } else {
      for (final seq in erased.seqs.skip(erased.seqs.length - newCount)) if (_turns.has(seq)) await readAgain(seq);
    }
    _erasedCount = erased.count;
  }

  /// What is kept has something that was erased: it is forgotten, until it is read again.
  Future<void> _forgetErased(int count) async {
    final kept = _isLoaded ? null : await readKept<Json>(_core.store, keptKey(id));
    final known = _isLoaded ? _erasedCount : kept?['erasedCount'] as int? ?? count;
    if (count <= known) return;
    if (isOpen) return _core.saver.forget(keptKey(id));
    _isLoaded = false;
    await gone();
  }
}
