import 'exception.dart';
import 'json.dart';
import 'model.dart';
import 'wire.dart';

/* Stored messages and streamed answers, as they are shown. */

const _answerStates = {
  'queued': MessageState.queued,
  'running': MessageState.running,
  'awaiting_tool': MessageState.waiting,
  'done': MessageState.done,
  'failed': MessageState.failed,
  'cancelled': MessageState.stopped,
};

/// A part that was sent, or is stored; null for one that is no text and no file.
MessagePart? partOf(Json json, {double? progress}) => switch (json['type']) {
  'text' => TextPart(json['text']! as String),
  'file' => FilePart(
    mediaType: json['mediaType'] as String?,
    name: json['name'] as String?,
    uploadId: json['uploadId'] as String?,
    url: json['url'] as String?,
    data: json['data'] as String?,
    progress: progress,
  ),
  _ => null,
};

/// What the API takes of a part of a message, also of one that is shown; null: nothing.
Json? inputOf(MessagePart part) => switch (part) {
  TextPart(:final text) => {'type': 'text', 'text': text},
  FilePart(:final uploadId?) => {'type': 'file', 'uploadId': uploadId},
  FilePart(:final mediaType, :final data?) => {'type': 'file', 'mediaType': mediaType, 'data': data},
  FilePart(:final mediaType, :final url?) => {'type': 'file', 'mediaType': mediaType, 'url': url},
  _ => null,
};

MessageError errorOf(RecapException error) => (
  reason: error.reason,
  message: error.message,
  isRetryable: error.code == 429 || error.reason == 'TURN_IN_PROGRESS',
  resetTime: error.resetTime,
);

ToolPart _withResult(ToolPart part, ToolState state, {Object? output, String? error}) => ToolPart(
  callId: part.callId,
  name: part.name,
  input: part.input,
  state: state,
  byService: part.byService,
  output: output ?? part.output,
  error: error ?? part.error,
);

/// What a tool gave; one that failed told the model why.
ToolPart _withResponse(ToolPart part, Json response) => switch (response) {
  {'error': final String error} when response.length == 1 => _withResult(part, ToolState.failed, error: error),
  _ => _withResult(part, ToolState.done, output: response),
};

ToolPart _call(String callId, String name, Object? input, Json about) => ToolPart(
  callId: callId,
  name: name,
  input: input,
  state: ToolState.running,
  byService: about['providerExecuted'] == true,
);

List<MessagePart> _storedParts(StoredMessage stored) {
  final parts = <MessagePart>[];
  int indexOf(String callId) => parts.indexWhere((part) => part is ToolPart && part.callId == callId);
  for (final json in stored.parts) {
    final callId = json['callId'] as String? ?? '';
    switch (json['type']) {
      case 'functionCall':
        parts.add(_call(callId, json['name']! as String, json['args'], json));
      case 'functionResponse':
        final at = indexOf(callId);
        if (at >= 0) parts[at] = _withResponse(parts[at] as ToolPart, json['response']! as Json);
      default:
        // A later version of the service may have more.
        if (partOf(json) case final part?) parts.add(part);
    }
  }
  for (final call in stored.openCalls.where((call) => call.wants == 'approved')) {
    final at = indexOf(call.callId);
    if (at >= 0) parts[at] = _withResult(parts[at] as ToolPart, ToolState.approval);
  }
  for (final source in stored.sources) parts.add(SourcePart(source['url']! as String, source['title'] as String?));
  return parts;
}

// Of each message that is kept, while that is: what is not new is not made anew.
final _shown = Expando<Message>();

/// A stored message as it is shown.
Message toMessage(StoredMessage stored) => _shown[stored.json] ??= Message(
  id: stored.id,
  role: stored.role,
  state: stored.role == Role.user ? MessageState.sent : _answerStates[stored.state] ?? MessageState.done,
  parts: _storedParts(stored),
  time: stored.createTime,
  seq: stored.seq,
  error: switch (stored.error) {
    {'reason': final String reason, 'message': final String message, 'retryable': final bool isRetryable}
        when stored.role == Role.model =>
      (reason: reason, message: message, isRetryable: isRetryable, resetTime: null),
    _ => null,
  },
  finishReason: stored.finishReason,
  outOfContext: switch (stored.outOfContext) {
    {'reason': final String reason} && final Json left => (reason: reason, replacedBy: left['replacedBy'] as String?),
    _ => null,
  },
  isDeleted: stored.isDeleted,
  rating: Rating.values.asNameMap()[stored.feedback?['rating']],
);

/// An answer as its stream tells of it.
final class const LiveAnswer(
  final MessageState state, {

  /// By the ids that the stream gave them.
  final Map<String, MessagePart> parts = const {},

  /// The last event that was read: where to go on.
  final String? lastEventId,
  final String? finishReason,
  final MessageError? error,
}) {
  bool get isUnfinished => state == MessageState.queued || state == MessageState.running;

  Message shown(int seq, DateTime time) => Message(
    id: 'm_$seq',
    role: Role.model,
    state: state,
    parts: [...parts.values],
    time: time,
    seq: seq,
    error: error,
    finishReason: finishReason,
  );

  LiveAnswer withoutCursor() => _but(null);

  LiveAnswer _but(
    String? lastEventId, {
    MessageState? state,
    Map<String, MessagePart>? parts,
    String? finishReason,
    MessageError? error,
  }) => LiveAnswer(
    state ?? this.state,
    parts: parts ?? this.parts,
    lastEventId: lastEventId,
    finishReason: finishReason ?? this.finishReason,
    error: error ?? this.error,
  );

  /// The answer after one more event of its stream.
  LiveAnswer after(Json chunk, String eventId) {
    String text(String field) => chunk[field]! as String;
    LiveAnswer part(String id, MessagePart part) => _but(eventId, parts: {...parts, id: part});
    LiveAnswer tool(Object? callId, ToolState state, {Object? output, String? error}) => switch (parts[callId]) {
      final ToolPart known => part(known.callId, _withResult(known, state, output: output, error: error)),
      _ => _but(eventId),
    };

    switch (chunk['type']) {
      case 'start':
        final shrunken = (chunk['messageMetadata'] as Json?)?['shrunken'] as Json?;
        final notice = {if (shrunken != null) 'shrunken': NoticePart('shrunken', shrunken)};
        return _but(eventId, state: MessageState.running, parts: {...parts, ...notice});
      case 'text-start' || 'text-delta':
        final known = parts[chunk['id']];
        return part(text('id'), TextPart('${known is TextPart ? known.text : ''}${chunk['delta'] ?? ''}'));
      case 'tool-input-available':
        final callId = text('toolCallId');
        return part(callId, _call(callId, text('toolName'), chunk['input'], chunk));
      case 'tool-output-available':
        return tool(chunk['toolCallId'], ToolState.done, output: chunk['output']);
      case 'tool-output-error':
        return tool(chunk['toolCallId'], ToolState.failed, error: text('errorText'));
      case 'source-url':
        return part(text('sourceId'), SourcePart(text('url'), chunk['title'] as String?));
      case 'data-notice':
        final details = {...chunk['data']! as Json};
        final kind = details.remove('kind')! as String;
        if (kind == 'approval') return tool(details['callId'], ToolState.approval);
        final dropped = kind == 'restarted' ? listOf<String>(details['dropParts']) : const <String>[];
        final kept = {...parts}..removeWhere((id, _) => dropped.contains(id));
        return _but(eventId, parts: {...kept, text('id'): NoticePart(kind, details)});
      case 'error':
        const reason = 'ANSWER_FAILED';
        final error = (reason: reason, message: text('errorText'), isRetryable: true, resetTime: null);
        return _but(eventId, error: error);
      case 'abort':
        return _but(eventId, state: MessageState.stopped);
      case 'finish':
        final reason = text('finishReason');
        final isStopped = state == MessageState.stopped;
        final end = switch (reason) {
          'tool-calls' => MessageState.waiting,
          'error' when !isStopped => MessageState.failed,
          _ => isStopped ? MessageState.stopped : MessageState.done,
        };
        return _but(eventId, finishReason: reason, state: end);
      default:
        // Also those of later versions of the service.
        return _but(eventId);
    }
  }
}
