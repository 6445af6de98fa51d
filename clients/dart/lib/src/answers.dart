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

MessageError errorOf(RecapException error) => MessageError(
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

/// With what became of a call.
List<MessagePart> _withTool(List<MessagePart> parts, Object? callId, ToolPart Function(ToolPart part) change) => [
  for (final part in parts) part is ToolPart && part.callId == callId ? change(part) : part,
];

List<MessagePart> _storedParts(StoredMessage stored) {
  var parts = <MessagePart>[];
  for (final json in stored.parts) {
    switch (json['type']) {
      case 'functionCall':
        parts.add(
          ToolPart(
            callId: json['callId'] as String? ?? '',
            name: json['name']! as String,
            input: json['args'],
            state: ToolState.running,
            byService: json['providerExecuted'] == true,
          ),
        );
      case 'functionResponse':
        parts = _withTool(parts, json['callId'], (part) => _withResponse(part, json['response']! as Json));
      default:
        // A later version of the service may have more.
        if (partOf(json) case final part?) parts.add(part);
    }
  }
  return [
    ...parts,
    for (final source in stored.sources) SourcePart(source['url']! as String, source['title'] as String?),
  ];
}

/// Of each message that is kept, while that is: a list shows only what is new anew.
final _shown = Expando<Message>();

/// A stored message as it is shown.
Message toMessage(StoredMessage stored) => _shown[stored.json] ??= Message(
  id: stored.id,
  role: stored.role,
  state: stored.role == Role.user ? MessageState.sent : _answerStates[stored.state] ?? MessageState.done,
  parts: _storedParts(stored),
  time: stored.createTime,
  seq: stored.seq,
  finishReason: stored.finishReason,
  outOfContext: switch (stored.outOfContext) {
    {'reason': final String reason, 'replacedBy': final String turn} => OutOfContext(reason, turn),
    {'reason': final String reason} => OutOfContext(reason),
    _ => null,
  },
  isDeleted: stored.isDeleted,
  rating: switch (stored.feedback) {
    {'rating': final String rating} => Rating.values.asNameMap()[rating],
    _ => null,
  },
);

/// With what the turn itself tells of its answer: why it failed, and which calls wait for the user.
Message withTurn(Message answer, Turn? turn) {
  if (turn == null || (answer.state != MessageState.failed && answer.state != MessageState.waiting)) return answer;
  var parts = answer.parts;
  for (final call in turn.openCalls.where((call) => call.wants == 'approved')) {
    parts = _withTool(parts, call.callId, (part) => _withResult(part, ToolState.approval));
  }
  return Message(
    id: answer.id,
    role: answer.role,
    state: answer.state,
    parts: parts,
    time: answer.time,
    seq: answer.seq,
    error: switch (turn.error) {
      {'reason': final String reason, 'message': final String message, 'retryable': final bool isRetryable} =>
        MessageError(reason: reason, message: message, isRetryable: isRetryable),
      _ => answer.error,
    },
    finishReason: answer.finishReason,
    outOfContext: answer.outOfContext,
    isDeleted: answer.isDeleted,
    rating: answer.rating,
  );
}

/// An answer as its stream tells of it.
final class LiveAnswer {
  const LiveAnswer(this.state, {this.parts = const {}, this.lastEventId, this.finishReason, this.error});

  final MessageState state;

  /// By the ids that the stream gave them.
  final Map<String, MessagePart> parts;

  /// The last event that was read: where to go on.
  final String? lastEventId;
  final String? finishReason;
  final MessageError? error;

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

  LiveAnswer _copy({
    MessageState? state,
    Map<String, MessagePart>? parts,
    String? finishReason,
    MessageError? error,
    required String? lastEventId,
  }) => LiveAnswer(
    state ?? this.state,
    parts: parts ?? this.parts,
    lastEventId: lastEventId,
    finishReason: finishReason ?? this.finishReason,
    error: error ?? this.error,
  );

  LiveAnswer withoutCursor() => _copy(lastEventId: null);

  /// The answer after one more event of its stream.
  LiveAnswer after(Json chunk, String eventId) {
    LiveAnswer next({
      MessageState? state,
      Map<String, MessagePart>? parts,
      String? finishReason,
      MessageError? error,
    }) => _copy(state: state, parts: parts, finishReason: finishReason, error: error, lastEventId: eventId);
    LiveAnswer part(Object? id, MessagePart part) => next(parts: {...parts, '$id': part});
    LiveAnswer tool(ToolPart Function(ToolPart part) change) => switch (parts['${chunk['toolCallId']}']) {
      final ToolPart known => part(known.callId, change(known)),
      _ => next(),
    };

    switch (chunk['type']) {
      case 'start':
        final shrunken = (chunk['messageMetadata'] as Json?)?['shrunken'] as Json?;
        return next(
          state: MessageState.running,
          parts: shrunken == null ? parts : {...parts, 'shrunken': NoticePart('shrunken', shrunken)},
        );
      case 'text-start' || 'text-delta':
        final known = parts[chunk['id']];
        return part(chunk['id'], TextPart('${known is TextPart ? known.text : ''}${chunk['delta'] ?? ''}'));
      case 'tool-input-available':
        final callId = chunk['toolCallId']! as String;
        return part(
          callId,
          ToolPart(
            callId: callId,
            name: chunk['toolName']! as String,
            input: chunk['input'],
            state: ToolState.running,
            byService: chunk['providerExecuted'] == true,
          ),
        );
      case 'tool-output-available':
        return tool((part) => _withResult(part, ToolState.done, output: chunk['output']));
      case 'tool-output-error':
        return tool((part) => _withResult(part, ToolState.failed, error: chunk['errorText']! as String));
      case 'source-url':
        return part(chunk['sourceId'], SourcePart(chunk['url']! as String, chunk['title'] as String?));
      case 'data-notice':
        final details = {...chunk['data']! as Json};
        final kind = details.remove('kind')! as String;
        if (kind == 'approval') {
          return switch (parts['${details['callId']}']) {
            final ToolPart known => part(known.callId, _withResult(known, ToolState.approval)),
            _ => next(),
          };
        }
        final dropped = kind == 'restarted' ? listOf<String>(details['dropParts']) : const <String>[];
        final kept = {...parts}..removeWhere((id, _) => dropped.contains(id));
        return next(parts: {...kept, '${chunk['id']}': NoticePart(kind, details)});
      case 'error':
        final message = chunk['errorText']! as String;
        return next(
          error: MessageError(reason: 'ANSWER_FAILED', message: message, isRetryable: true),
        );
      case 'abort':
        return next(state: MessageState.stopped);
      case 'finish':
        final reason = chunk['finishReason']! as String;
        return next(
          finishReason: reason,
          state: switch (reason) {
            'tool-calls' => MessageState.waiting,
            _ when state == MessageState.stopped => MessageState.stopped,
            'error' => MessageState.failed,
            _ => MessageState.done,
          },
        );
      default:
        // Also those of later versions of the service.
        return next();
    }
  }
}
