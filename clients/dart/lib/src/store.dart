import 'dart:convert';
import 'dart:io';

/// Texts under keys, of one user. What a write has completed is there after the app was killed.
abstract interface class RecapStore {
  Future<String?> get(String key);
  Future<void> set(String key, String value);
  Future<void> delete(String key);

  /// Those that begin with [prefix], in their order.
  Future<List<String>> keys(String prefix);
}

/// Nothing outlives the process.
final class MemoryStore implements RecapStore {
  final _values = <String, String>{};

  @override
  Future<String?> get(String key) async => _values[key];

  @override
  Future<void> set(String key, String value) async => _values[key] = value;

  @override
  Future<void> delete(String key) async => _values.remove(key);

  @override
  Future<List<String>> keys(String prefix) async =>
      _values.keys.where((key) => key.startsWith(prefix)).toList()..sort();
}

/// In files of a folder: one folder for each user.
final class FileStore(String path) implements RecapStore {
  final _folder = Directory(path);
  late final _ready = _folder.create(recursive: true);
  static int _writes = 0;

  Future<File> _fileOf(String key) async => File('${(await _ready).path}/${Uri.encodeComponent(key)}');

  @override
  Future<String?> get(String key) async {
    try {
      return await (await _fileOf(key)).readAsString();
    } on PathNotFoundException {
      return null;
    }
  }

  @override
  Future<void> set(String key, String value) async {
    final file = await _fileOf(key);
    // A name that no key has: whoever is killed in the middle leaves the value before.
    final written = File('${_folder.path}/~$pid-${_writes++}');
    try {
      await written.writeAsString(value, flush: true);
      await written.rename(file.path);
    } catch (_) {
      await written.delete().then((_) {}, onError: (_) {});
      rethrow;
    }
  }

  @override
  Future<void> delete(String key) async {
    try {
      await (await _fileOf(key)).delete();
    } on PathNotFoundException {
      // It is not there.
    }
  }

  /// Deletes what an app that was killed did not finish; a younger file may be on its way.
  Future<void> _deleteIfLeft(FileSystemEntity file) async {
    final age = DateTime.now().difference((await file.stat()).modified);
    if (age > const Duration(hours: 1)) await file.delete().then((_) {}, onError: (_) {});
  }

  @override
  Future<List<String>> keys(String prefix) async {
    await _ready;
    final keys = <String>[];
    await for (final entry in _folder.list()) {
      final name = entry.uri.pathSegments.last;
      if (name.startsWith('~')) {
        await _deleteIfLeft(entry);
      } else {
        keys.add(Uri.decodeComponent(name));
      }
    }
    return keys.where((key) => key.startsWith(prefix)).toList()..sort();
  }
}

/// What was kept under a key; null where there is nothing that can be read.
Future<T?> readKept<T>(RecapStore store, String key) async {
  try {
    final text = await store.get(key);
    return text == null ? null : jsonDecode(text) as T;
  } catch (_) {
    return null;
  }
}

/// Writes what is to be there at the next start, one value after the other; of a key that is saved again meanwhile the
/// newest value alone. A store that refuses costs no message, only that it outlives the app.
final class Saver(final RecapStore _store) {
  final _waiting = <String, Object? Function()>{};
  Future<void> _last = Future.value();

  /// Completes when it is written, and never fails. [valueOf] is asked then; null: nothing is kept.
  Future<void> save(String key, Object? Function() valueOf) {
    _waiting[key] = valueOf;
    return _last = _last.then((_) => _write(key)).then((_) {}, onError: (_) {});
  }

  Future<void> forget(String key) => save(key, () => null);

  Future<void> _write(String key) async {
    final valueOf = _waiting.remove(key);
    if (valueOf == null) return;
    final value = valueOf();
    await (value == null ? _store.delete(key) : _store.set(key, jsonEncode(value)));
  }
}
