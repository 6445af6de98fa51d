import 'dart:async';
import 'dart:convert';
import 'dart:math';

import 'package:http/http.dart' as http;

typedef Json = Map<String, dynamic>;

/// Store it before the first try, with both ids, and delete it when the answer is there.
class OutgoingMessage {
  const OutgoingMessage({
    required this.conversationId,
    required this.messageId,
    required this.text,
    this.files = const [],
    this.onBusy,
  });

  final String conversationId;
  final String messageId;
  final String text;

  /// What [Recap.upload] gave, or small ones whole: `{'type': 'file', 'mediaType': 'image/png', 'data': base64}`.
  final List<Json> files;

  /// While another message is being answered: `queue` or `interrupt`; by itself this one is refused.
  final String? onBusy;
}

/// A function of the app that the model calls.
class ToolCall {
  const ToolCall(this.id, this.name, this.input);

  final String id;
  final String name;
  final Object? input;
}

/// How full the context is; [note] is a sentence for the user.
class ContextStatus {
  ContextStatus.fromJson(Json json)
      : tokens = json['tokens'] as int,
        thresholdTokens = json['thresholdTokens'] as int?,
        percent = (json['percent'] as num).toDouble(),
        generation = json['generation'] as int,
        compactionState = (json['compaction'] as Json?)?['state'] as String?,
        note = (json['compaction'] as Json?)?['message'] as String?;

  final int tokens;
  final int? thresholdTokens;
  final double percent;
  final int generation;
  final String? compactionState;
  final String? note;
}

/// An answer while it grows: texts of its parts by their ids, in the order in which they came.
class Answer {
  final Map<String, String> _parts = {};
  final Map<String, ToolCall> _calls = {};
  String? turnId;
  ContextStatus? context;
  String? title;
  String? finishReason;
  String? errorText;

  /// Somebody stopped the answer: its text is not whole.
  bool isStopped = false;

  String get text => _parts.values.join();

  /// Calls that wait for [Recap.giveResults], once [finishReason] is `tool-calls`.
  List<ToolCall> get calls => [..._calls.values];

  /// Passes over types that it does not know.
  void take(Json chunk) {
    final id = chunk['id'] as String? ?? '';
    switch (chunk['type']) {
      case 'start':
        turnId = (chunk['messageMetadata'] as Json?)?['turnId'] as String?;
        finishReason = null;
        errorText = null;
        isStopped = false;
      case 'data-notice':
        final dropped = (chunk['data'] as Json)['dropParts'] as List<dynamic>? ?? const [];
        dropped.forEach(_parts.remove);
      case 'text-start':
        _parts[id] = '';
      case 'text-delta':
        _parts[id] = (_parts[id] ?? '') + (chunk['delta'] as String);
      case 'tool-input-available':
        if (chunk['providerExecuted'] == true) break; // a function of the server
        final call = chunk['toolCallId'] as String;
        _calls[call] = ToolCall(call, chunk['toolName'] as String, chunk['input']);
      case 'tool-output-available' || 'tool-output-error':
        _calls.remove(chunk['toolCallId']);
      case 'data-title':
        title = (chunk['data'] as Json)['title'] as String?;
      case 'data-context':
        context = ContextStatus.fromJson(chunk['data'] as Json);
      case 'abort':
        isStopped = true;
      case 'error':
        errorText = chunk['errorText'] as String?;
      case 'finish':
        finishReason = chunk['finishReason'] as String?;
    }
  }
}

/// A refusal (AIP-193): decide by [reason], show [message].
class RecapException implements Exception {
  RecapException._(
    this.code,
    this.message,
    this.reason,
    this.metadata,
    this.retryAfter,
    this.isFinal,
  );

  /// What is no answer of the API, a page of a proxy in between, has its HTTP code alone.
  factory RecapException.of(int code, String body, Map<String, String> headers) {
    final isFinal = headers['x-should-retry'] == 'false';
    final seconds = int.tryParse(headers['retry-after'] ?? '');
    final retryAfter = seconds == null ? null : Duration(seconds: seconds);
    try {
      final error = (jsonDecode(body) as Json)['error'] as Json;
      final detail = (error['details'] as List<dynamic>).first as Json;
      final metadata = detail['metadata'] as Json? ?? const {};
      final message = error['message'] as String;
      final reason = detail['reason'] as String?;
      return RecapException._(code, message, reason, metadata, retryAfter, isFinal);
    } catch (_) {
      return RecapException._(code, 'HTTP $code', null, const {}, retryAfter, isFinal);
    }
  }

  final int code;
  final String message;
  final String? reason;
  final Json metadata;
  final Duration? retryAfter;

  /// Nothing to wait for, such as a quota that is back tomorrow: tell the user.
  final bool isFinal;

  @override
  String toString() => message;
}

class Recap {
  Recap({
    required this.baseUrl,
    required this.idToken,
    this.appCheckToken,
    Future<Json> Function()? clientContext,
    http.Client Function()? newClient,
  })  : clientContext = clientContext ?? _clock,
        _newClient = newClient ?? http.Client.new;

  final String baseUrl;

  /// `true`: a new one, because the service took the last one for expired.
  final Future<String> Function(bool renew) idToken;

  /// Where the service demands one.
  final Future<String?> Function()? appCheckToken;

  /// What the model is told of the moment, such as `{'timeZone': 'Asia/Seoul', 'locale': 'ko-KR'}`: date and time of the
  /// user come from it. By itself the offset of this device's clock.
  final Future<Json> Function() clientContext;
  final http.Client Function() _newClient;

  static Future<Json> _clock() async {
    final offset = DateTime.now().timeZoneOffset;
    String two(int figure) => (figure.abs()).toString().padLeft(2, '0');
    final sign = offset.isNegative ? '-' : '+';
    return {'timeZone': '$sign${two(offset.inHours)}:${two(offset.inMinutes.remainder(60))}'};
  }

  static const _maxFailures = 8;
  static const _worthRetrying = {429, 502, 503, 504};

  /// The answer after each event, always the same object. Cancelling the subscription stops reading, at
  /// the next event, not the answer.
  Stream<Answer> send(OutgoingMessage message) => _send('/messages', message);

  /// Says something else in place of the user's message [replaced]; that and all after it leave the context.
  Stream<Answer> edit(String replaced, OutgoingMessage message) =>
      _send('/messages/$replaced:edit', message);

  /// Answers the last message anew, named by its id. [id]: a UUID, drawn before the first try.
  Stream<Answer> regenerate(String conversationId, String messageId, {required String id}) async* {
    final body = {'id': id, 'clientContext': await clientContext()};
    yield* _answers(conversationId, '/messages/$messageId:regenerate', body, Answer());
  }

  Stream<Answer> _send(String path, OutgoingMessage message) async* {
    final parts = [{'type': 'text', 'text': message.text}, ...message.files];
    final context = await clientContext();
    final body = {
      'message': {'id': message.messageId, 'parts': parts},
      if (message.onBusy != null) 'onBusy': message.onBusy,
      'clientContext': context,
    };
    yield* _answers(message.conversationId, path, body, Answer());
  }

  /// Gives what the app's functions returned, to all of `answer.calls`: each a `callId` with an `output`, or an `error`. The
  /// answer goes on.
  Stream<Answer> giveResults(String conversationId, Answer answer, List<Json> results) =>
      _answers(conversationId, '/turns/${answer.turnId}/toolResults', {'results': results}, answer);

  Stream<Answer> _answers(String conversationId, String path, Json body, Answer answer) async* {
    String? cursor;
    var renew = false;
    for (var failures = 0;;) {
      Object failure;
      StackTrace trace;
      try {
        await for (final (id, chunk) in _events(conversationId, path, body, cursor, renew)) {
          if (chunk == null) return;
          answer.take(chunk);
          cursor = id ?? cursor;
          failures = 0;
          yield answer;
        }
        failure = http.ClientException('cut: an end without [DONE]');
        trace = StackTrace.current;
      } on Exception catch (error, stack) {
        failure = error;
        trace = stack;
      }
      renew = !renew && _isExpired(failure);
      if (renew) continue;
      final wait = _waitAfter(failure, failures);
      if (wait == null || failures == _maxFailures) Error.throwWithStackTrace(failure, trace);
      failures += 1;
      await Future<void>.delayed(wait);
    }
  }

  /// Any other call, such as `('POST', '/turns/t_1:cancel')`, on a conversation or on none; the JSON that it answers.
  Future<Json> call(String method, String path, [String? conversationId, Json? body]) async {
    Future<String> send(bool renew) async {
      final request = await _request(method, conversationId, path, renew);
      if (body != null) {
        request.headers['content-type'] = 'application/json';
        request.body = jsonEncode(body);
      }
      return _load(request, const Duration(seconds: 30));
    }

    String reply;
    try {
      reply = await send(false);
    } on RecapException catch (refused) {
      if (!_isExpired(refused)) rethrow;
      reply = await send(true);
    }
    return reply.isEmpty ? {} : jsonDecode(reply) as Json;
  }

  static bool _isExpired(Object failure) =>
      failure is RecapException && failure.reason == 'ID_TOKEN_EXPIRED';

  /// `conversations`, the newest first, and `nextPageToken` while there is more.
  Future<Json> listConversations({String? pageToken}) =>
      call('GET', '/conversations${_pageQuery(pageToken)}');

  /// `messages`, the oldest first, replaced ones too (`inContext: false`).
  Future<Json> listMessages(String conversationId, {String? pageToken}) =>
      call('GET', '/messages${_pageQuery(pageToken)}', conversationId);

  Future<Json> rename(String conversationId, String title) =>
      call('PATCH', '', conversationId, {'title': title});

  /// Of an answer (`m_1`): `up` or `down`; again, it takes the place of what was said before.
  Future<Json> rate(String conversationId, String messageId, String rating) =>
      call('PUT', '/messages/$messageId/feedback', conversationId, {'rating': rating});

  /// Up to 20 MB; a part to keep with the message.
  Future<Json> upload(List<int> bytes, {required String mimeType}) async {
    final about = {'mimeType': mimeType, 'sizeBytes': bytes.length};
    final upload = await call('POST', '/uploads', null, about);
    final put = http.Request(upload['method'] as String, Uri.parse(upload['url'] as String));
    put.headers.addAll((upload['headers'] as Json).cast<String, String>());
    put.bodyBytes = bytes;
    try {
      await _load(put, const Duration(minutes: 5));
    } on RecapException catch (refused) {
      if (refused.code != 412) rethrow; // 412: an earlier try has brought the file
    }
    return {'type': 'file', 'uploadId': upload['uploadId']};
  }

  static String _pageQuery(String? token) =>
      token == null ? '' : '?pageToken=${Uri.encodeQueryComponent(token)}';

  Future<String> _load(http.Request request, Duration timeout) async {
    final client = _newClient();
    try {
      final response = await client.send(request).then(http.Response.fromStream).timeout(timeout);
      final body = utf8.decode(response.bodyBytes);
      if (response.statusCode >= 400) {
        throw RecapException.of(response.statusCode, body, response.headers);
      }
      return body;
    } finally {
      client.close();
    }
  }

  /// null: the same again would give the same.
  Duration? _waitAfter(Object failure, int failures) {
    final backOff = Duration(seconds: min(30, 1 << failures));
    if (failure is! RecapException) return failure is FormatException ? null : backOff;
    final helps = _worthRetrying.contains(failure.code) && !failure.isFinal;
    return helps ? failure.retryAfter ?? backOff : null;
  }

  /// Events with their ids, one try; the chunk is null at `[DONE]`.
  Stream<(String?, Json?)> _events(
    String conversationId,
    String path,
    Json body,
    String? cursor,
    bool renew,
  ) async* {
    final client = _newClient();
    try {
      final request = await _request('POST', conversationId, path, renew);
      request.headers['accept'] = 'text/event-stream';
      request.headers['content-type'] = 'application/json';
      if (cursor != null) request.headers['last-event-id'] = cursor;
      request.body = jsonEncode(body);
      final response = await client.send(request).timeout(const Duration(seconds: 30));
      if (response.statusCode != 200) {
        final refusal = await response.stream.bytesToString();
        throw RecapException.of(response.statusCode, refusal, response.headers);
      }
      // A heartbeat comes every 8 s: after 30 s without a byte the connection is dead.
      final bytes = response.stream.timeout(const Duration(seconds: 30));
      String? id;
      await for (final line in bytes.transform(utf8.decoder).transform(const LineSplitter())) {
        if (line.startsWith('id: ')) id = line.substring(4);
        if (!line.startsWith('data: ')) continue;
        final data = line.substring(6);
        yield (id, data == '[DONE]' ? null : jsonDecode(data) as Json);
      }
    } finally {
      client.close();
    }
  }

  Future<http.Request> _request(
    String method,
    String? conversationId,
    String path,
    bool renew,
  ) async {
    final root = conversationId == null ? '' : '/conversations/$conversationId';
    final request = http.Request(method, Uri.parse('$baseUrl/v1$root$path'));
    request.headers['authorization'] = 'Bearer ${await idToken(renew)}';
    final appToken = await appCheckToken?.call();
    if (appToken != null) request.headers['x-firebase-appcheck'] = appToken;
    return request;
  }
}
