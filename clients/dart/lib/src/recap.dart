import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:math';

import 'answers.dart';
import 'core.dart';
import 'exception.dart';
import 'inbox.dart';
import 'json.dart';
import 'model.dart';
import 'outbox.dart';
import 'reading.dart';
import 'requester.dart';
import 'store.dart';
import 'wire.dart';

part 'chat.dart';

// Chats that are kept, those that were opened last.
const _chatsKept = 50;
const _chatsKey = 'chats';
const _deviceKey = 'device';
final _uuid = RegExp(r'^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$', caseSensitive: false);

/// A UUID of version 4.
String _drawUuid() {
  final random = Random.secure();
  final digits = [for (var place = 0; place < 32; place++) random.nextInt(16)];
  digits[12] = 4;
  digits[16] = digits[16] & 3 | 8;
  final text = digits.map((digit) => digit.toRadixString(16)).join();
  return [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].map((piece) => text.substring(piece.$1, piece.$2)).join('-');
}

/// One list of conversations. It is read and followed while its [states] or its [rows] are listened to.
interface class ConversationList._(final ListName _name, final Inbox _inbox) {
  late final _shown = _inbox.lists[_name]!;

  ListState get state => _shown.value;

  /// The latest one at once, then each newer one.
  Stream<ListState> get states => _shown.stream;
  late final Stream<List<ConversationRow>> rows = states.map((state) => state.rows);

  /// Reads the next page. Throws [RecapException].
  Future<void> loadMore() => _inbox.loadMore(_name);
}

/// Push messages to this installation. What it does throws [RecapException].
interface class Push._(final RecapStore _store, final Requester _requester) {
  static String _path(Object? id) => '/v1/users/me/devices/$id';

  /// At every start: it calls the service where something has changed. [platform]: `ios`, `android` or `web`.
  Future<void> register(String token, String platform, [String? locale]) async {
    final kept = await readKept<Json>(_store, _deviceKey) ?? {'id': _drawUuid()};
    final body = {'token': token, 'platform': platform, 'locale': ?locale};
    final registered = jsonEncode(body);
    if (kept['registered'] == registered) return;
    final id = kept['id'];
    await _store.set(_deviceKey, jsonEncode({'id': id}));
    await _requester.call('PUT', _path(id), body: body);
    await _store.set(_deviceKey, jsonEncode({'id': id, 'registered': registered}));
  }

  Future<void> unregister() async {
    final kept = await readKept<Json>(_store, _deviceKey);
    if (kept?['registered'] == null) return;
    await _requester.call('DELETE', _path(kept!['id']));
    // A deleted device is not taken again under its id.
    await _store.delete(_deviceKey);
  }
}

/// The client of one signed-in user. What is said to throw throws [RecapException].
interface class Recap {
  /// [baseUrl] is the address of the function; [getIdToken] gives the user's ID token, a new one if `force`; [store] is of
  /// this user alone, and by itself nothing outlives the app. [tools] are by their names, as the conversation declares them;
  /// [clientContext] is asked for with every message.
  Recap({
    required String baseUrl,
    required Future<String> Function(bool force) getIdToken,
    RecapStore? store,
    Future<String> Function()? getAppCheckToken,
    Map<String, Tool> tools = const {},
    Json Function()? clientContext,
    Timings timings = const Timings(),
  }) {
    if (!RegExp('^https?://.').hasMatch(baseUrl)) {
      throw ArgumentError.value(baseUrl, 'baseUrl', 'is no address of the service');
    }
    _core = Core(
      baseUrl: baseUrl.replaceFirst(RegExp(r'/$'), ''),
      getIdToken: getIdToken,
      getAppCheckToken: getAppCheckToken,
      store: store ?? MemoryStore(),
      tools: tools,
      clientContext: clientContext,
      timings: timings,
      onOtherUser: _hide,
    );
    // What was kept is sent, also before anything is shown.
    unawaited(_outbox.loaded);
    unawaited(_inbox.loaded);
  }

  late final Core _core;
  late final Outbox _outbox = Outbox(
    _core,
    onChange: (conversationId) {
      _chats[conversationId]?._reading.changed();
      _inbox.changed();
    },
    onTaken: (entry, stream) => _chatOf(entry.conversationId)._taken(entry, stream),
  );
  late final Inbox _inbox = Inbox(_core, _outbox, onEvent: _hear);
  final _chats = <String, Chat>{};
  final _lists = <ListName, ConversationList>{};
  var _keptChats = <String>[];
  late final Future<void> _keptChatsLoaded = _loadKeptChats();
  bool _isOtherUser = false;

  /// Those that are neither archived nor in the bin.
  ConversationList get conversations => list(ListName.active);

  /// Push messages to this installation.
  late final push = Push._(_core.store, _core.requester);

  /// The clock of the service.
  DateTime get now => _core.requester.now;

  ConversationList list(ListName name) => _lists[name] ??= ConversationList._(name, _inbox);

  /// A conversation by its UUID; without one a new one, which begins with its first message.
  Chat chat([String? id]) {
    if (id == null) return _chatOf(_drawUuid(), isNew: true);
    if (!_uuid.hasMatch(id)) throw ArgumentError.value(id, 'id', 'is no UUID');
    return _chatOf(id.toLowerCase());
  }

  /// Messages and titles of all conversations. Throws.
  Future<SearchResult> search(String query, {String? pageToken}) async =>
      readSearch(await call('GET', '/v1/users/me/search', query: {'q': query, 'pageToken': pageToken}));

  /// Moves all of a guest to this user, with what [guestStore] has not sent yet; completes with how many conversations.
  /// Throws.
  Future<int> claim(String guestToken, [RecapStore? guestStore]) async {
    final claimed = await call('POST', '/v1/users/me:claim', body: {'guestToken': guestToken});
    if (guestStore != null) await _outbox.takeOver(guestStore);
    return claimed['conversations']! as int;
  }

  /// Where a file can be read, for some minutes. Throws.
  Future<Uri> fileUrl(String uploadId) async =>
      Uri.parse((await call('GET', '/v1/uploads/$uploadId'))['url']! as String);

  /// Whether the app is in front: in the background the stream of the list rests.
  void setActive(bool isActive) {
    _core.life.setActive(isActive);
    _inbox.listen();
  }

  /// There is a network again: what waits is tried at once.
  void wake() => _core.life.wake();

  /// Any other call, such as `('GET', '/v1/users/me/usage')`. Throws.
  Future<Json> call(String method, String path, {Map<String, Object?> query = const {}, Json? body}) =>
      _core.requester.call(method, path, query: query, body: body);

  /// Ends all connections and streams. What is kept stays.
  void close() {
    _core.life.close();
    for (final chat in _chats.values) {
      chat._reading
        ..close()
        ..shown.close();
    }
    for (final list in _inbox.lists.values) list.close();
    _inbox.listen();
    _core.requester.close();
  }

  Chat _chatOf(String id, {bool isNew = false}) => _chats[id] ??= _newChat(id, isNew);

  Chat _newChat(String id, bool isNew) {
    final reading = Reading(_core, _outbox, _inbox, id, isNew: isNew, onOpen: () => unawaited(_noteOpened(id)));
    if (_isOtherUser) reading.hide();
    return Chat._(this, reading);
  }

  void _hide(RecapException error) {
    _isOtherUser = true;
    _outbox.hide(error);
    _inbox.hide();
    for (final chat in _chats.values) chat._reading.hide();
  }

  Future<void> _loadKeptChats() async =>
      _keptChats = [...listOf<String>(await readKept<List<Object?>>(_core.store, _chatsKey)), ..._keptChats];

  /// The chats that are kept, the one that was opened last behind.
  Future<void> _noteOpened(String id) async {
    await _keptChatsLoaded;
    final others = _keptChats.where((each) => each != id).toList();
    final forgotten = max(0, others.length - _chatsKept + 1);
    for (final old in others.take(forgotten)) _core.saver.forget(keptKey(old)).ignore();
    _keptChats = [...others.skip(forgotten), id];
    await _core.saver.save(_chatsKey, () => _keptChats);
  }

  Future<void> _hear(UserEvent event) async {
    switch (event.type) {
      case 'conversation':
        final id = event.conversation.id;
        // What was erased is erased from what is kept, too, of a chat that was not opened yet.
        final chat = event.erased == null ? _chats[id] : _chatOf(id);
        await chat?._reading.hear(event);
      case 'gone':
        await _chatOf(event.conversationId)._reading.gone();
      case 'reset':
        await _keptChatsLoaded;
        for (final id in _keptChats.where((id) => !(_chats[id]?._reading.isOpen ?? false)).toList()) {
          await _core.saver.forget(keptKey(id));
        }
        for (final chat in _chats.values.where((chat) => chat._reading.isOpen)) chat._reading.refresh().ignore();
    }
  }
}
