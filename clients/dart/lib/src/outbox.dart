import 'dart:async';
import 'dart:convert';
import 'dart:typed_data';

import 'answers.dart';
import 'core.dart';
import 'exception.dart';
import 'json.dart';
import 'model.dart';
import 'requester.dart';
import 'store.dart';

const _prefix = 'outbox/';
// Taken ones that are kept, so that they can be sent again.
const _takenMax = 100;
// Above every order of what is kept.
const _unkeptOrder = 1000000000000;

enum EntryState {
  pending,

  /// The service has it, and its answer has not ended well yet.
  taken,
  failed,
}

/// What the user did, and what is sent for it: a view of the JSON that is kept.
extension type Entry(Json json) {
  /// Of the message.
  String get id => json['id']! as String;
  String get conversationId => json['conversationId']! as String;

  /// Later ones have a greater one.
  int get order => json['order']! as int;

  /// Below the conversation.
  String get path => json['path']! as String;

  /// The body, but for the parts of uploads.
  Json get body => json['body']! as Json;

  /// What is shown; of a regeneration the message that is answered anew.
  List<Json> get parts => listOf(json['parts']);

  /// Files that go with it: `mediaType`, `name`, the `key` of their bytes, and an `uploadId` once they have arrived.
  List<Json> get files => listOf(json['files']);

  /// First of the turns that it takes the place of.
  int? get replaces => json['replaces'] as int?;

  /// ISO 8601.
  String get time => json['time']! as String;
  EntryState get state => EntryState.values.byName(json['state']! as String);
  bool get isPending => state == EntryState.pending;
  int? get seq => json['seq'] as int?;
  MessageError? get error => switch (json['error']) {
    {'reason': final String reason, 'message': final String message, 'isRetryable': final bool isRetryable} &&
        final Json error =>
      (
        reason: reason,
        message: message,
        isRetryable: isRetryable,
        resetTime: DateTime.tryParse('${error['resetTime']}'),
      ),
    _ => null,
  };

  /// The answer is to be stopped as soon as its turn is known.
  bool get isToStop => json['isToStop'] == true;

  String get key => '$_prefix$conversationId/${'$order'.padLeft(12, '0')}/$id';

  /// What is sent: the same bytes in every try.
  String get bodyText {
    final message = body['message'] as Json?;
    if (message == null) return jsonEncode(body);
    final uploads = [
      for (final file in files) {'type': 'file', 'uploadId': file['uploadId']},
    ];
    return jsonEncode({
      ...body,
      'message': {
        ...message,
        'parts': [...listOf<Json>(message['parts']), ...uploads],
      },
    });
  }

  /// What is here is other now; what is null is left out.
  Entry but(Json changes) => Entry({...json, ...changes}..removeWhere((_, value) => value == null));

  Entry withUpload(int index, String uploadId) => but({
    'files': [...files]..[index] = {...files[index], 'uploadId': uploadId},
  });

  Entry get withoutUploads => but({
    'files': [
      for (final file in files) {...file}..remove('uploadId'),
    ],
  });

  Entry withError(RecapException error, EntryState state, {bool isRetryable = false}) => but({
    'state': state.name,
    'error': {
      'reason': error.reason,
      'message': error.message,
      'isRetryable': isRetryable || errorOf(error).isRetryable,
      'resetTime': ?error.resetTime?.toIso8601String(),
    },
  });
}

/// What the user did and the service does not have yet, kept so that it is sent once, in order, whatever happens.
final class Outbox(
  final Core _core, {
  // The entries of a conversation are others now.
  required final void Function(String conversationId) _onChange,

  /// The service has it; whoever does not read the stream closes it.
  required final void Function(Entry entry, EventStream stream) _onTaken,
}) {
  final _entries = <String, Entry>{};
  // Shown, but not in the store yet: they are not sent.
  final _unkept = <String>{};
  // Those since the start.
  final _added = <String>{};
  // Bytes of files that were added since the start; those of before are in the store.
  final _bytes = <String, Uint8List>{};
  // Share that was sent of each file that is on its way, by message and index.
  final _progress = <String, double>{};
  // Of these the files were uploaded a second time.
  final _uploadedAnew = <String>{};
  final _draining = <String>{};
  RecapException? _otherUser;
  int _lastOrder = 0;

  /// What was kept before is known. A store that cannot be read is no reason to send nothing.
  late final Future<void> loaded = _load().then((_) {}, onError: (_) {});
  late Future<void> _lastAdded = loaded;

  Entry? find(String id) => _entries[id];

  double? progressOf(String id, int index) => _progress['$id/$index'];

  /// Those of a conversation, in their order.
  List<Entry> of(String conversationId) => [
    for (final entry in _entries.values)
      if (entry.conversationId == conversationId && (_otherUser == null || _added.contains(entry.id))) entry,
  ]..sort((one, other) => one.order.compareTo(other.order));

  /// What waits, by conversation.
  Map<String, List<Entry>> get waiting => {
    for (final id in {for (final entry in _entries.values.where((each) => each.isPending)) entry.conversationId})
      id: of(id).where((entry) => entry.isPending).toList(),
  };

  /// Shows it at once, keeps it, and sends it when its turn has come. Never fails.
  Future<void> add(Entry given, List<FileInput> files) {
    _added.add(given.id);
    final shown = given.but({
      // Behind all that is kept, until it has its place.
      'order': _unkeptOrder + _unkept.length,
      'files': [
        for (final file in files) {'mediaType': file.mediaType, 'name': ?file.name},
      ],
    });
    _unkept.add(shown.id);
    _show(shown);
    return _lastAdded = _lastAdded.then((_) => _keep(shown, files));
  }

  /// Sends a message again that was refused, or whose answer failed; completes with whether it is known here.
  Future<bool> retry(String id) async {
    final entry = _entries[id];
    if (entry == null) return false;
    if (entry.isPending || _otherUser != null) return true;
    _uploadedAnew.remove(id);
    await _put(entry.but({'state': EntryState.pending.name, 'error': null, 'isToStop': null}));
    unawaited(_drain(entry.conversationId));
    return true;
  }

  Future<void> markToStop(String id) async {
    if (_entries[id] case final entry?) await _put(entry.but({'isToStop': true}));
  }

  Future<void> drop(String id) async {
    final entry = _entries.remove(id);
    if (entry == null) return;
    _onChange(entry.conversationId);
    await _core.saver.forget(entry.key);
    await _dropFiles(entry);
  }

  /// The store is not that of the user who is signed in.
  void hide(RecapException error) {
    _otherUser = error;
    for (final entry in _entries.values.toList()) {
      if (_added.contains(entry.id) && !_unkept.contains(entry.id)) unawaited(_disown(entry, error));
    }
  }

  /// Takes over what another store has not sent.
  Future<void> takeOver(RecapStore from) async {
    await loaded;
    for (final key in await from.keys(_prefix)) {
      final json = await readKept<Json>(from, key);
      final found = json == null ? null : Entry(json);
      final fileKeys = [
        for (final file in found?.files ?? const <Json>[])
          if (file['key'] case final String fileKey) fileKey,
      ];
      if (found != null && found.state != EntryState.taken && !_entries.containsKey(found.id)) {
        for (final fileKey in fileKeys) {
          if (await from.get(fileKey) case final base64?) await _core.store.set(fileKey, base64);
        }
        await _put(found.but({'order': ++_lastOrder}));
        unawaited(_drain(found.conversationId));
      }
      for (final taken in [key, ...fileKeys]) await from.delete(taken);
    }
  }

  Future<void> _load() async {
    for (final key in await _core.store.keys(_prefix)) {
      final json = await readKept<Json>(_core.store, key);
      if (json == null) continue;
      final entry = Entry(json);
      if (entry.order > _lastOrder) _lastOrder = entry.order;
      _entries[entry.id] = entry;
    }
    for (final id in {for (final entry in _entries.values) entry.conversationId}) {
      _onChange(id);
      unawaited(_drain(id));
    }
  }

  void _show(Entry entry) {
    _entries[entry.id] = entry;
    _onChange(entry.conversationId);
  }

  /// Shows an entry as it is now, and writes it.
  Future<void> _put(Entry entry) async {
    _show(entry);
    // It has no place yet: it is written with it.
    if (!_unkept.contains(entry.id)) await _core.saver.save(entry.key, () => entry.json);
  }

  /// Keeps what is shown already; only then it is sent.
  Future<void> _keep(Entry shown, List<FileInput> files) async {
    final kept = <Json>[];
    for (final (index, file) in files.indexed) {
      final key = 'file/${shown.id}/$index';
      _bytes[key] = file.bytes;
      await _core.saver.save(key, () => base64Encode(file.bytes));
      kept.add({...shown.files[index], 'key': key});
    }
    final entry = _entries[shown.id];
    _unkept.remove(shown.id);
    if (entry == null) return _dropFiles(shown.but({'files': kept}));
    final placed = entry.but({'order': ++_lastOrder, 'files': kept});
    if (_otherUser case final error?) return _disown(placed, error);
    await _put(placed);
    unawaited(_drain(shown.conversationId));
  }

  /// What somebody typed over the store of another user is not sent as that user.
  Future<void> _disown(Entry entry, RecapException error) async {
    _show(entry.withError(error, EntryState.failed));
    await _core.saver.forget(entry.key);
    await _dropFiles(entry);
  }

  Future<void> _dropFiles(Entry entry) async {
    for (final file in entry.files) {
      if (file['key'] case final String key) {
        _bytes.remove(key);
        await _core.saver.forget(key);
      }
    }
  }

  /// Sends what waits in a conversation, one after the other.
  Future<void> _drain(String conversationId) async {
    if (!_draining.add(conversationId)) return;
    while (!_core.life.isClosed) {
      final next = of(conversationId).where((entry) => entry.isPending && !_unkept.contains(entry.id)).firstOrNull;
      if (next == null) break;
      await _core.life.untilDone(() => _sendOnce(next.id));
    }
    _draining.remove(conversationId);
  }

  /// One try. Throws what is to be tried again after a pause.
  Future<void> _sendOnce(String id) async {
    final found = _entries[id];
    if (found == null || !found.isPending) return;
    try {
      var entry = found;
      for (var index = 0; index < found.files.length; index++) entry = await _upload(entry, index);
      final path = '/v1/conversations/${entry.conversationId}${entry.path}';
      final stream = await _core.requester.stream('POST', path, body: entry.bodyText);
      final seq = stream.seq;
      if (seq != null) return await _take(id, stream, seq);
      stream.close();
      throw offline('a reply without x-turn-id');
    } catch (error) {
      await _refuse(id, offline(error));
    }
  }

  Future<void> _take(String id, EventStream stream, int seq) async {
    final entry = _entries[id];
    // It was discarded while it was on its way.
    if (entry == null) return stream.close();
    final taken = entry.but({'state': EntryState.taken.name, 'seq': seq, 'error': null});
    final kept = _put(taken);
    _onTaken(taken, stream);
    await kept;
    await _dropFiles(taken);
    final all = _entries.values.where((each) => each.state == EntryState.taken).toList();
    for (final old in all.reversed.skip(_takenMax)) await drop(old.id);
  }

  /// What a refusal changes. Throws it where the same is to be tried again after a pause.
  Future<void> _refuse(String id, RecapException error) async {
    final entry = _entries[id];
    // It was discarded, or is another user's, since it was sent.
    if (entry == null || !entry.isPending) return;
    if (error.reason == 'UPLOAD_NOT_FOUND' && _uploadedAnew.add(id)) {
      return _put(entry.withoutUploads);
    }
    if (error.isPassing) {
      // Not written: why a try did not get through is of this moment.
      _show(entry.withError(error, EntryState.pending, isRetryable: true));
      throw error;
    }
    if (error.reason == 'TURN_IN_PROGRESS' && entry.body['onBusy'] == OnBusy.queue.name) {
      // The queue of the service is full: there will be room.
      throw RecapException(503, error.reason, error.message, retryAfter: error.retryAfter);
    }
    await _put(entry.withError(error, EntryState.failed));
  }

  Future<Entry> _upload(Entry entry, int index) async {
    final file = entry.files[index];
    if (file['uploadId'] != null) return entry;
    final bytes = await _readFile(file);
    final about = {'mimeType': file['mediaType'], 'sizeBytes': bytes.length, 'name': ?file['name']};
    final begun = await _core.requester.call('POST', '/v1/uploads', body: about);
    final target = (
      uploadId: begun['uploadId']! as String,
      method: begun['method']! as String,
      url: Uri.parse(begun['url']! as String),
      headers: (begun['headers']! as Json).cast<String, String>(),
    );
    final place = '${entry.id}/$index';
    void show(double share) {
      _progress[place] = share;
      _onChange(entry.conversationId);
    }

    show(0);
    try {
      await _core.requester.put(bytes, target, show);
    } finally {
      _progress.remove(place);
    }
    final uploaded = (_entries[entry.id] ?? entry).withUpload(index, target.uploadId);
    if (_entries.containsKey(entry.id)) await _put(uploaded);
    return uploaded;
  }

  Future<Uint8List> _readFile(Json file) async {
    final key = file['key'] as String? ?? '';
    if (_bytes[key] case final bytes?) return bytes;
    if (await readKept<String>(_core.store, key) case final base64?) return base64Decode(base64);
    final name = file['name'] ?? 'The file';
    throw RecapException(400, 'FILE_LOST', '$name is not on this device any more. Send it again.');
  }
}
