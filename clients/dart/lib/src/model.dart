import 'dart:async';
import 'dart:typed_data';

import 'exception.dart';
import 'json.dart';

enum Role { user, model }

Role roleOf(Json json) => json['role'] == Role.user.name ? Role.user : Role.model;

/// clients/README.md says what each means.
enum MessageState { pending, sent, queued, running, waiting, done, stopped, failed }

/// [approval]: waits for `chat.approve`.
enum ToolState { running, approval, done, failed }

enum Rating { up, down }

enum ListName { active, archived, deleted }

enum ConversationState { idle, running, waiting, failed }

/// While another message is answered: wait, take its place, or be refused.
enum OnBusy { queue, interrupt, reject }

/// [keep]: stays word for word; [drop]: is folded first.
enum Retention { keep, normal, drop }

/// A piece of a message. [TextPart] and [FilePart] can be sent, also those of a message that is shown.
sealed class const MessagePart();

final class const TextPart(final String text) extends MessagePart;

/// A file: one that was uploaded (`recap.fileUrl` has its address), one at an address, or a small one whole.
final class const FilePart({
  final String? mediaType,
  final String? name,
  final String? uploadId,
  final String? url,

  /// Base64.
  final String? data,

  /// 0 to 1 while it is uploaded.
  final double? progress,
}) extends MessagePart;

final class const ToolPart({
  required final String callId,
  required final String name,
  required final Object? input,
  required final ToolState state,

  /// Whether the service runs it.
  required final bool byService,
  final Object? output,
  final String? error,
}) extends MessagePart;

/// A page that an answer rests on.
final class const SourcePart(final String url, [final String? title]) extends MessagePart;

final class NoticePart(final String kind, Json details) extends MessagePart {
  final Json details = Map.unmodifiable(details);
}

/// Decide by the `reason` (UPPER_SNAKE: docs/reference/errors.md; `OFFLINE` without a connection), show the `message`. Whether
/// the same message may be tried again, and of a limit of the day when it is over.
typedef MessageError = ({String reason, String message, bool isRetryable, DateTime? resetTime});

/// Why the model does not know of a message, and the turn that took its place, such as `t_4`.
typedef OutOfContext = ({String reason, String? replacedBy});

/// One message of the user or of the model.
final class Message({
  /// Of a user's message the id that this device gave it, `m_17` of an answer.
  required final String id,
  required final Role role,
  required final MessageState state,
  required List<MessagePart> parts,

  /// In UTC.
  required final DateTime time,

  /// Its turn; null until the service has told it.
  final int? seq,

  /// Of a pending message: why the last try did not get through.
  final MessageError? error,
  final String? finishReason,
  final OutOfContext? outOfContext,
  final bool isDeleted = false,
  final Rating? rating,
}) {
  final List<MessagePart> parts = List.unmodifiable(parts);

  /// Its text parts as one.
  late final String text = parts.whereType<TextPart>().map((part) => part.text).join('\n\n');
}

/// How full the context is: docs/reference/api.md, of which `json` has all.
final class ContextState(Json json) {
  final Json json = Map.unmodifiable(json);
  int get tokens => json['tokens']! as int;

  /// Where a compaction is due; null: it is never by itself.
  int? get thresholdTokens => json['thresholdTokens'] as int?;
  double get percent => (json['percent']! as num).toDouble();
  Json? get _compaction => json['compaction'] as Json?;
  String? get compactionState => _compaction?['state'] as String?;

  /// Of the last compaction, to be shown.
  String? get compactionMessage => _compaction?['message'] as String?;
}

/// A conversation as it is shown: never changed, but followed by a new one.
final class ChatState({
  required List<Message> messages,
  required List<Message> transcript,
  final String? title,
  final ContextState? context,

  /// Before the first message, and behind the last one (after `loadAround`).
  final bool hasOlder = false,
  final bool hasNewer = false,

  /// Whether it was read since it is shown.
  final bool isLoaded = false,

  /// Why it cannot be read.
  final RecapException? problem,
}) {
  /// Of the current branch, the oldest first.
  final List<Message> messages = List.unmodifiable(messages);

  /// All, those too that were replaced.
  final List<Message> transcript = List.unmodifiable(transcript);

  /// Whether an answer is on its way.
  late final bool isAnswering = messages.any(
    (message) => message.state == MessageState.queued || message.state == MessageState.running,
  );
}

/// The last message of a conversation.
typedef LastMessage = ({int seq, Role role, DateTime time, String? preview, bool isDeleted});

/// A row of the list.
final class ConversationRow(Json json) {
  /// All that the service tells: docs/reference/api.md.
  final Json json = Map.unmodifiable(json);
  String get id => json['id']! as String;
  String? get title => json['title'] as String?;
  Map<String, String> get metadata => (json['metadata']! as Json).cast();
  bool get isArchived => json['archived'] == true;
  bool get isPinned => json['pinned'] == true;
  ConversationState get state => ConversationState.values.asNameMap()[json['state']] ?? ConversationState.idle;
  LastMessage? get lastMessage => switch (json['lastMessage']) {
    {'seq': final int seq, 'time': final String time} && final Json last => (
      seq: seq,
      role: roleOf(last),
      time: DateTime.parse(time),
      preview: last['preview'] as String?,
      isDeleted: last['deleted'] == true,
    ),
    _ => null,
  };
  int get lastSeq => json['lastSeq'] as int? ?? 0;
  int get readSeq => json['readSeq'] as int? ?? 0;
  int get unreadCount => json['unreadCount']! as int;

  /// Messages that are not sent yet.
  int get pendingCount => json['pendingCount'] as int? ?? 0;
  late final DateTime activeTime = DateTime.parse(json['activeTime']! as String);

  /// Of one in the bin: since when, and until when.
  DateTime? get deleteTime => DateTime.tryParse('${json['deleteTime']}');
  DateTime? get purgeTime => DateTime.tryParse('${json['purgeTime']}');
  ListName get list => json['deleteTime'] != null
      ? ListName.deleted
      : isArchived
      ? ListName.archived
      : ListName.active;

  /// With other values of some fields.
  ConversationRow but(Json changes) => ConversationRow({...json, ...changes});
}

/// Rows of one list: the pinned ones, then the newest.
final class ListState({
  required List<ConversationRow> rows,
  final bool hasMore = false,
  final bool isLoaded = false,
  final RecapException? problem,
}) {
  final List<ConversationRow> rows = List.unmodifiable(rows);
}

/// A message that a search has found; `seq` is for `chat.loadAround`.
typedef SearchHit = ({String conversationId, int seq, Role role, String messageId, String snippet, String? title});

/// Messages, and by their ids the conversations whose title has it.
typedef SearchResult = ({List<SearchHit> hits, Map<String, String> titles, String? nextPageToken});

/// A file that is sent with a message; its type is such as `image/jpeg`.
final class const FileInput(final Uint8List bytes, final String mediaType, {final String? name});

/// How a message is sent.
final class const SendOptions({
  /// By itself a message waits, and an edit takes the place of what is answered.
  final OnBusy? onBusy,

  /// What the app tells the model of the moment: docs/guides/client-context.md.
  final Json context = const {},
  final Retention? retention,

  /// JSON Schema that the answer has to fit.
  final Json? responseSchema,
});

/// A call of a tool of the app.
typedef ToolCall = ({String conversationId, String callId});

/// Runs in the app; what it throws is told to the model.
typedef Tool = FutureOr<Object?> Function(Object? input, ToolCall call);

final class const Timings({
  /// A stream without a byte for so long is lost.
  final Duration silence = const Duration(seconds: 30),

  /// A call without an answer for so long is lost.
  final Duration call = const Duration(seconds: 30),

  /// Pauses between tries; the last one is that of all further ones.
  final List<Duration> backOff = const [
    Duration(seconds: 1),
    Duration(seconds: 2),
    Duration(seconds: 4),
    Duration(seconds: 8),
    Duration(seconds: 16),
    Duration(seconds: 30),
  ],

  /// Between looks at a compaction that is on its way.
  final Duration watch = const Duration(seconds: 2),
});
