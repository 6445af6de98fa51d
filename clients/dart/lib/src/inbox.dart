import 'dart:async';
import 'dart:convert';
import 'dart:math';

import 'core.dart';
import 'exception.dart';
import 'json.dart';
import 'life.dart';
import 'model.dart';
import 'outbox.dart';
import 'requester.dart';
import 'store.dart';
import 'wire.dart';

const _key = 'inbox';
const _readPrefix = 'read/';
// Rows that are kept.
const _rowsKept = 100;
const _previewCharacters = 120;

List<ConversationRow> _rowsOf(Object? json) => [for (final row in listOf<Json>(json)) ConversationRow(row)];

int _inOrder(ConversationRow one, ConversationRow other) =>
    one.isPinned == other.isPinned ? other.activeTime.compareTo(one.activeTime) : (one.isPinned ? -1 : 1);

/// The row of a conversation that has messages which are not sent yet.
ConversationRow _withPending(ConversationRow? row, String id, List<Entry> pending) {
  final last = pending.last;
  final text = last.parts.where((part) => part['type'] == 'text').map((part) => part['text']).join(' ');
  final preview = text.replaceAll(RegExp(r'\s+'), ' ').trim().runes.take(_previewCharacters);
  final known =
      row ??
      ConversationRow({'id': id, 'metadata': const <String, Object?>{}, 'unreadCount': 0, 'activeTime': last.time});
  return known.but({
    'lastMessage': {
      'seq': known.lastSeq + 1,
      'role': Role.user.name,
      'time': last.time,
      'preview': String.fromCharCodes(preview),
    },
    'pendingCount': pending.length,
    if (known.activeTime.isBefore(DateTime.parse(last.time))) 'activeTime': last.time,
  });
}

/// The user's conversations: as they were kept, as the list tells, and as the events after it tell.
final class Inbox(
  final Core _core,
  final Outbox _outbox, {
  // Completes when nothing more is kept of what the event says is gone.
  required final Future<void> Function(UserEvent event) _onEvent,
}) {
  late final lists = {
    for (final name in ListName.values)
      name: Shown<ListState>(() => _show(name), onFirst: () => _watch(name), onNone: release),
  };

  final _rows = <String, ConversationRow>{};
  String? _cursor;
  // Where each list goes on; a list that is not named was not read, null: all of it is known.
  final _nextPages = <ListName, String?>{};
  // Lists that somebody looked at.
  final _wanted = <ListName>{};
  // What was seen here and the service may not know yet.
  final _seen = <String, int>{};
  final _telling = <String>{};
  RecapException? _problem;
  bool _isHidden = false;
  // Rows as they are shown; null when they are others now.
  Map<ListName, List<ConversationRow>>? _shownRows;
  // So many look at a list or a chat.
  int _users = 0;
  // Of who follows what changes; null while nobody does.
  Interest? _listening;
  // Whether all that was missed has been told.
  bool _isReady = false;
  Future<void> _lastWork = Future.value();
  late final Future<void> loaded = _load().then((_) {}, onError: (_) {});

  ConversationRow? row(String id) => _rows[id];

  Map<ListName, List<ConversationRow>> get _rowsByList {
    if (_shownRows case final rows?) return rows;
    final all = {
      if (!_isHidden)
        for (final row in _rows.values) row.id: (_seen[row.id] ?? 0) < row.lastSeq ? row : row.but({'unreadCount': 0}),
    };
    if (!_isHidden) _outbox.waiting.forEach((id, pending) => all[id] = _withPending(all[id], id, pending));
    final lists = {for (final name in ListName.values) name: <ConversationRow>[]};
    for (final row in all.values.toList()..sort(_inOrder)) lists[row.list]!.add(row);
    return _shownRows = lists;
  }

  ListState _show(ListName name) => ListState(
    rows: _rowsByList[name]!,
    hasMore: _nextPages[name] != null,
    isLoaded: _nextPages.containsKey(name),
    problem: _problem,
  );

  void changed() {
    _shownRows = null;
    for (final list in lists.values) list.changed();
  }

  void _fail(RecapException error) {
    _problem = error;
    changed();
  }

  /// The store is not that of the user who is signed in: nothing of it is shown.
  void hide() {
    _isHidden = true;
    changed();
  }

  void _keep() {
    if (_isHidden) return;
    _core.saver.save(_key, () {
      final active = _rows.values.where((row) => row.list == ListName.active).toList()..sort(_inOrder);
      return {
        'rows': [for (final row in active.take(_rowsKept)) row.json],
        'cursor': ?_cursor,
      };
    }).ignore();
  }

  void _setRows(Iterable<ConversationRow> newer) {
    for (final row in newer) _rows[row.id] = row;
  }

  Future<void> _load() async {
    if (await readKept<Json>(_core.store, _key) case final kept?) {
      for (final row in _rowsOf(kept['rows'])) _rows.putIfAbsent(row.id, () => row);
      _cursor ??= kept['cursor'] as String?;
    }
    for (final key in await _core.store.keys(_readPrefix)) {
      final seq = await readKept<int>(_core.store, key);
      final id = key.substring(_readPrefix.length);
      if (seq == null || _seen.containsKey(id)) continue;
      _seen[id] = seq;
      unawaited(_tellSeen(id));
    }
    changed();
  }

  /* Reading. */

  /// One after the other: an event that comes while a page is read may be newer than what the page has.
  Future<void> _inTurn(Future<void> Function() work) {
    final done = _lastWork.then((_) => work());
    _lastWork = done.then((_) {}, onError: (_) {});
    return done;
  }

  Future<({List<ConversationRow> rows, String? next})> _readRows(ListName list, Query query) async {
    final page = await _core.requester.call('GET', '/v1/conversations', query: {'list': list.name, ...query});
    return (rows: _rowsOf(page['conversations']), next: page['nextPageToken'] as String?);
  }

  /// Reads the first page of a list, or the next one.
  Future<void> _readPage(ListName list, [String? pageToken]) async {
    final isFirst = pageToken == null;
    final [page, ...pinned] = await Future.wait([
      _readRows(list, {'pageToken': pageToken}),
      // They stand before the others, however old they are.
      if (isFirst) _readRows(list, {'pinned': true}),
    ]);
    if (isFirst) {
      // What was kept and is not in it any more is gone.
      final last = page.next == null ? null : page.rows.lastOrNull?.activeTime;
      _rows.removeWhere((_, row) => row.list == list && (last == null || !row.activeTime.isBefore(last)));
    }
    _setRows(page.rows);
    for (final more in pinned) _setRows(more.rows);
    _nextPages[list] = page.next;
    _problem = null;
    changed();
    _keep();
  }

  Future<void> _readFirst() async {
    for (final list in _wanted) if (!_nextPages.containsKey(list)) await _readPage(list);
  }

  Future<void> loadMore(ListName list) => _inTurn(() async {
    if (_nextPages[list] case final pageToken?) await _readPage(list, pageToken);
  });

  /* Following. */

  void _watch(ListName list) {
    _wanted.add(list);
    use();
    if (_isReady) _inTurn(_readFirst).catchError((Object error) => _fail(offline(error))).ignore();
  }

  /// Begins to follow, while anybody uses it.
  void use() {
    _users++;
    loaded.then((_) => listen()).ignore();
  }

  void release() {
    _users--;
    listen();
  }

  /// Opens the stream, or closes it, as it is wanted now.
  void listen() {
    final isWanted = _users > 0 && _core.life.isActive && !_core.life.isClosed;
    if (isWanted == (_listening != null)) return;
    _listening?.end();
    _listening = isWanted ? Interest() : null;
    if (_listening case final listening?) unawaited(_follow(listening));
  }

  /// Follows what changes; an event whose handling fails comes again.
  Future<void> _follow(Interest listening) => keepReading(
    life: _core.life,
    interest: listening,
    cursor: () => _cursor,
    onProblem: _fail,
    read: (hold) async {
      _isReady = false;
      const path = '/v1/users/me/events';
      final stream = await _core.requester.stream('GET', path, query: {'cursor': _cursor}, interest: listening);
      hold(stream);
      var hasFailed = false;
      Future<void> take(ServerEvent event) async {
        if (hasFailed) return;
        try {
          await _apply(UserEvent(jsonDecode(event.data) as Json));
          _cursor = event.id ?? _cursor;
          _keep();
        } catch (error) {
          hasFailed = true;
          _fail(offline(error));
          stream.close();
        }
      }

      try {
        await stream.read((event) => _inTurn(() => take(event)).ignore());
      } finally {
        // What was told is handled before it is asked for what comes behind it.
        await _lastWork;
      }
      return false;
    },
  );

  Future<void> _apply(UserEvent event) async {
    switch (event.type) {
      case 'conversation':
        final row = event.conversation;
        _setRows([row]);
        if (row.readSeq >= (_seen[row.id] ?? double.infinity)) _forgetSeen(row.id);
      case 'gone':
        _rows.remove(event.conversationId);
      case 'ready':
        _isReady = true;
        _problem = null;
        await _readFirst();
      case 'reset':
        _isReady = true;
        _rows.clear();
        _nextPages.clear();
        await _readFirst();
    }
    changed();
    await _onEvent(event);
  }

  /* What the user does. */

  /// Shows a change at once, and takes it back where it is refused. Throws [RecapException].
  Future<void> change(String id, Json patch, Future<void> Function() work) async {
    final before = _rows[id];
    if (before != null) _setRows([before.but(patch)]);
    changed();
    try {
      await work();
      _keep();
    } catch (error) {
      final was = {for (final field in patch.keys) field: before?.json[field]};
      if (_rows[id] case final now?) _setRows([now.but(was)]);
      changed();
      throw offline(error);
    }
  }

  Future<void> markRead(String id, int seq) async {
    final row = _rows[id];
    final known = row != null && row.unreadCount == 0 ? row.readSeq : -1;
    if (seq <= max(_seen[id] ?? 0, known)) return;
    _seen[id] = seq;
    changed();
    await _core.saver.save(_readPrefix + id, () => seq);
    unawaited(_tellSeen(id));
  }

  void _forgetSeen(String id) {
    _seen.remove(id);
    _core.saver.forget(_readPrefix + id).ignore();
  }

  /// Tells the service what was seen, until it knows.
  Future<void> _tellSeen(String id) async {
    if (!_telling.add(id)) return;
    try {
      await _core.life.untilDone(() async {
        for (var seq = _seen[id]; seq != null; seq = _seen[id]) {
          final read = await _core.requester.call('POST', '/v1/conversations/$id:read', body: {'seq': seq});
          if (_rows.containsKey(id)) _setRows([ConversationRow(read)]);
          if (_seen[id] == seq) _forgetSeen(id);
          changed();
        }
      });
    } on RecapException {
      _forgetSeen(id);
    }
    _telling.remove(id);
  }
}
