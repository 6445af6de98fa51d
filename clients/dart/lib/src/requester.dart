import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:math';
import 'dart:typed_data';

import 'core.dart';
import 'exception.dart';
import 'json.dart';
import 'life.dart';
import 'store.dart';

// Whose the store is.
const _userKey = 'user';
// Of a file, bytes that go out before its progress is told.
const _uploadPiece = 64 * 1024;
const _events = 'text/event-stream';

typedef Query = Map<String, Object?>;
typedef ServerEvent = ({String? id, String data});

/// An event stream whose head has come. Whoever does not read it closes it.
final class EventStream(final HttpClientResponse _response, final Duration _silence) {
  final _ended = Completer<bool>();
  StreamSubscription<String>? _lines;

  /// 200, or 204: there is nothing to be read.
  int get code => _response.statusCode;

  /// Its turn, such as 17; null where it is of none.
  late final int? seq = int.tryParse(_response.headers.value('x-turn-id')?.replaceFirst('t_', '') ?? '');

  /// Gives its events up to `[DONE]`, or to an end in good order; completes with whether it was done. Throws
  /// [RecapException] when it breaks, or when [onEvent] throws.
  Future<bool> read(void Function(ServerEvent event) onEvent) {
    String? id;
    var data = <String>[];

    void take(String line) {
      if (line.isNotEmpty) {
        final [field, ...rest] = line.split(':');
        final value = rest.join(':').replaceFirst(RegExp('^ '), '');
        if (field == 'data') data.add(value);
        if (field == 'id') id = value;
        return;
      }
      final event = (id: id, data: data.join('\n'));
      final isEvent = data.isNotEmpty;
      id = null;
      data = [];
      if (event.data == '[DONE]') return _end(() => _ended.complete(true));
      if (isEvent) onEvent(event);
    }

    void fail(Object error) => _end(() => _ended.completeError(offline(error)));

    void takeSafely(String line) {
      try {
        if (!_ended.isCompleted) take(line);
      } catch (error) {
        fail(error);
      }
    }

    if (_ended.isCompleted) return _ended.future;
    final text = _response.timeout(_silence).transform(const Utf8Decoder(allowMalformed: true));
    final lines = text.transform(const LineSplitter());
    _lines = lines.listen(takeSafely, onError: fail, onDone: () => _end(() => _ended.complete(false)));
    return _ended.future;
  }

  void close() => _end(() {
    // Nobody may wait for its end.
    _ended.future.ignore();
    _ended.completeError(offline('closed'));
  });

  void _end(void Function() complete) {
    if (_ended.isCompleted) return;
    complete();
    // What holds the connection open behind the end is not waited for.
    (_lines ?? _response.listen(null)).cancel().ignore();
  }
}

/// Where the service wants a file.
typedef UploadTarget = ({String uploadId, String method, Uri url, Map<String, String> headers});

/// Calls of the API with the user's token; one that the service takes for expired is renewed once. All throw
/// [RecapException].
final class Requester(final Core _core) {
  // The service may close a connection that rests for longer just when it is used again.
  late final _http = HttpClient()
    ..connectionTimeout = _core.timings.call
    ..idleTimeout = const Duration(seconds: 3);
  Duration _clockOffset = Duration.zero;
  String? _user;

  /// The clock of the service.
  DateTime get now => DateTime.now().toUtc().add(_clockOffset);

  /// Ends all connections.
  void close() => _http.close(force: true);

  /// The object of the reply; an empty one where there is none.
  Future<Json> call(String method, String path, {Query query = const {}, Json? body}) async {
    final bodyText = body == null ? null : jsonEncode(body);
    final response = await _send(method, path, query, bodyText, 'application/json', _core.timings.call, null);
    final text = await _textOf(response, _core.timings.call);
    return _orOffline(() async => text.isEmpty ? const {} : jsonDecode(text) as Json);
  }

  Future<EventStream> stream(String method, String path, {Query? query, String? body, Interest? interest}) async {
    final silence = _core.timings.silence;
    return EventStream(await _send(method, path, query ?? const {}, body, _events, silence, interest), silence);
  }

  /// Sends a file to the address that the service gave.
  Future<void> put(Uint8List bytes, UploadTarget target, void Function(double share) onSent) async {
    final limit = _core.timings.silence * 10;
    final response = await _exchange(target.method, target.url, target.headers, limit, null, (request) async {
      request.contentLength = bytes.length;
      for (var sent = 0; sent < bytes.length; sent += _uploadPiece) {
        final end = min(sent + _uploadPiece, bytes.length);
        request.add(Uint8List.sublistView(bytes, sent, end));
        await request.flush().timeout(limit);
        onSent(end / bytes.length);
      }
    });
    final text = await _textOf(response, limit);
    // 412: an earlier try has brought the file.
    if (response.statusCode >= 400 && response.statusCode != 412) throw _errorOf(response, text);
  }

  Future<HttpClientResponse> _send(
    String method,
    String path,
    Query query,
    String? body,
    String accept,
    Duration limit,
    Interest? interest,
  ) async {
    final parameters = {
      for (final MapEntry(:key, :value) in query.entries)
        if (value != null) key: '$value',
    };
    final uri = Uri.parse('${_core.baseUrl}$path').replace(queryParameters: parameters.isEmpty ? null : parameters);

    Future<HttpClientResponse> attempt({required bool isForced}) async {
      final headers = {
        'accept': accept,
        if (body != null) 'content-type': 'application/json',
        ...await _orOffline(() => _credentials(isForced: isForced)),
      };
      final bytes = body == null ? null : utf8.encode(body);
      final response = await _exchange(method, uri, headers, limit, interest, (request) {
        // A proxy may hold back the events of a stream that is packed.
        if (accept == _events) request.headers.removeAll(HttpHeaders.acceptEncodingHeader);
        if (bytes != null) request.contentLength = bytes.length;
        if (bytes != null) request.add(bytes);
      });
      _setClock(response);
      return response;
    }

    var response = await attempt(isForced: false);
    if (response.statusCode == HttpStatus.unauthorized) {
      response.listen(null).cancel().ignore();
      response = await attempt(isForced: true);
    }
    if (response.statusCode < 400) return response;
    throw _errorOf(response, await _textOf(response, limit));
  }

  /// One request, up to the head of its reply.
  Future<HttpClientResponse> _exchange(
    String method,
    Uri uri,
    Map<String, String> headers,
    Duration limit,
    Interest? interest,
    FutureOr<void> Function(HttpClientRequest request) write,
  ) => _orOffline(() async {
    final request = await _http.openUrl(method, uri);
    // HttpClient does not end what it was still looking up when it was closed.
    if (_core.life.isClosed || (interest?.hasEnded ?? false)) {
      request
        ..abort()
        ..done.ignore();
      throw offline('closed');
    }
    final forget = interest?.onEnd(request.abort);
    headers.forEach(request.headers.set);
    try {
      await write(request);
      return await request.close().timeout(limit);
    } on TimeoutException {
      request.abort();
      rethrow;
    } finally {
      forget?.call();
    }
  });

  Future<String> _textOf(HttpClientResponse response, Duration limit) =>
      _orOffline(() => const Utf8Decoder(allowMalformed: true).bind(response.timeout(limit)).join());

  RecapException _errorOf(HttpClientResponse response, String text) =>
      readError(response.statusCode, text, response.headers.value);

  void _setClock(HttpClientResponse response) {
    try {
      final date = HttpDate.parse(response.headers.value(HttpHeaders.dateHeader) ?? '');
      _clockOffset = date.difference(DateTime.now());
    } on HttpException {
      // Its clock is not told.
    }
  }

  Future<Map<String, String>> _credentials({required bool isForced}) async {
    // What the app gives may never come.
    final token = await _core.getIdToken(isForced).timeout(_core.timings.call);
    await _checkUser(token);
    return {
      'authorization': 'Bearer $token',
      'x-firebase-appcheck': ?await _core.getAppCheckToken?.call().timeout(_core.timings.call),
    };
  }

  /// Throws `STORE_OF_OTHER_USER`: nothing of one user is sent as another.
  Future<void> _checkUser(String token) async {
    final asking = _subjectOf(token);
    if (asking == null || asking == _user) return;
    _user ??= await readKept<String>(_core.store, _userKey);
    if (_user == null) {
      // A store that refuses costs no message.
      await _core.store.set(_userKey, jsonEncode(asking)).then((_) {}, onError: (_) {});
      _user ??= asking;
    }
    if (_user == asking) return;
    const message = 'The store of this client belongs to another user. Give each user a store.';
    final error = RecapException(401, 'STORE_OF_OTHER_USER', message);
    _core.onOtherUser(error);
    throw error;
  }
}

Future<T> _orOffline<T>(Future<T> Function() work) async {
  try {
    return await work();
  } catch (error) {
    throw offline(error);
  }
}

/// Whose token it is; null for what is no JSON Web Token.
String? _subjectOf(String token) {
  try {
    final payload = utf8.decode(base64Url.decode(base64Url.normalize(token.split('.')[1])));
    return (jsonDecode(payload) as Json)['sub'] as String?;
  } catch (_) {
    return null;
  }
}

/// Reads a stream over as many connections as it takes. One that brought nothing new is followed by a pause.
///
/// [read] reads one connection, of which it tells the stream, and completes with whether no further one is to be read.
/// [cursor] is where the next one goes on: another one is progress.
Future<void> keepReading({
  required Life life,
  required Interest interest,
  required String? Function() cursor,
  required Future<bool> Function(void Function(EventStream stream) hold) read,
  void Function(RecapException error)? onProblem,
}) async {
  EventStream? stream;
  var isWoken = false;
  var failures = 0;
  // Whoever comes back to the app does not know whether a connection still lives.
  void reopen() {
    isWoken = true;
    stream?.close();
  }

  final forgets = [life.onWake(reopen), interest.onEnd(reopen)];
  bool isWanted() => !interest.hasEnded && !life.isClosed;
  while (isWanted()) {
    final before = cursor();
    isWoken = false;
    RecapException? error;
    try {
      if (await read((held) => stream = held)) break;
    } catch (thrown) {
      error = offline(thrown);
    }
    failures = cursor() == before ? failures + 1 : 0;
    if (!isWanted() || isWoken) continue;
    if (error != null && (error.code != 0 || failures > 1)) onProblem?.call(error);
    if (failures > 0) await life.pauseAfter(error, failures);
  }
  for (final forget in forgets) forget();
  stream?.close();
}
