import 'dart:convert';

import 'json.dart';

// Codes after which the same request may go through.
const _passingCodes = {0, 401, 408, 500, 502, 503, 504};

/// Why a call has no answer: decide by [reason], show [message].
final class RecapException(
  /// HTTP code; 0: no connection.
  final int code,

  /// UPPER_SNAKE: docs/reference/errors.md; `OFFLINE` without a connection.
  final String reason,
  final String message, {
  bool isFinal = false,

  /// How long the service asks to be left alone.
  final Duration? retryAfter,

  /// Of a limit of the day: when it is over.
  final DateTime? resetTime,

  /// What broke the connection.
  final Object? cause,
}) implements Exception {
  /// Whether the same may go through after a pause of seconds.
  final bool isPassing = code == 429 ? !isFinal : _passingCodes.contains(code);

  @override
  String toString() => message;
}

/// No answer came: no network, a server that is not there, a connection that broke, or a reply that is none of the service.
RecapException offline(Object cause) =>
    cause is RecapException ? cause : RecapException(0, 'OFFLINE', 'No connection.', cause: cause);

Duration? _secondsOf(Object? text) {
  final seconds = double.tryParse('$text'.replaceFirst(RegExp(r's$'), ''));
  return seconds == null ? null : Duration(milliseconds: (seconds * 1000).round());
}

/// The error that a reply tells of, whoever wrote it.
RecapException readError(int code, String text, String? Function(String name) header) {
  Json error = const {};
  try {
    error = (jsonDecode(text) as Json)['error']! as Json;
  } catch (_) {
    // A proxy in between answers in HTML.
  }
  final details = listOf<Json>(error['details']);
  Object? detail(String name) => details.map((each) => each[name]).nonNulls.firstOrNull;
  final metadata = detail('metadata') as Json? ?? const {};
  return RecapException(
    code,
    detail('reason') as String? ?? 'HTTP_$code',
    error['message'] as String? ?? 'HTTP $code',
    isFinal: header('x-should-retry') == 'false' || metadata['final'] == 'true',
    retryAfter: _secondsOf(header('retry-after')) ?? _secondsOf(detail('retryDelay')),
    resetTime: DateTime.tryParse('${metadata['resetTime']}'),
  );
}
