import 'dart:async';
import 'dart:typed_data';

import 'exception.dart';
import 'json.dart';

enum Role { user, model }

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
sealed class MessagePart {
  const MessagePart();
}

final class TextPart extends MessagePart {
  const TextPart(this.text);

  final String text;
}

/// A file: one that was uploaded, one at an address, or a small one whole.
final class FilePart extends MessagePart {
  const FilePart({this.mediaType, this.name, this.uploadId, this.url, this.data, this.progress});

  final String? mediaType;
  final String? name;

  /// `recap.fileUrl` has its address.
  final String? uploadId;
  final String? url;

  /// Base64.
  final String? data;

  /// 0 to 1 while it is uploaded.
  final double? progress;
}

final class ToolPart extends MessagePart {
  const ToolPart({
    required this.callId,
    required this.name,
    required this.input,
    required this.state,
    required this.byService,
    this.output,
    this.error,
  });

  final String callId;
  final String name;
  final Object? input;
  final ToolState state;

  /// Whether the service runs it.
  final bool byService;
  final Object? output;
  final String? error;
}

/// A page that an answer rests on.
final class SourcePart extends MessagePart {
  const SourcePart(this.url, [this.title]);

  final String url;
  final String? title;
}

final class NoticePart extends MessagePart {
  NoticePart(this.kind, Json details) : details = Map.unmodifiable(details);

  final String kind;
  final Json details;
}

final class MessageError {
  const MessageError({required this.reason, required this.message, required this.isRetryable, this.resetTime});

  /// UPPER_SNAKE: docs/reference/errors.md; `OFFLINE` without a connection.
  final String reason;

  /// To be shown.
  final String message;

  /// Whether the same message may be tried again.
  final bool isRetryable;

  /// Of a limit of the day: when it is over.
  final DateTime? resetTime;
}

/// Why the model does not know of a message.
final class OutOfContext {
  const OutOfContext(this.reason, [this.replacedBy]);

  final String reason;

  /// A turn, such as `t_4`.
  final String? replacedBy;
}

/// One message of the user or of the model.
final class Message {
  Message({
    required this.id,
    required this.role,
    required this.state,
    required List<MessagePart> parts,
    required this.time,
    this.seq,
    this.error,
    this.finishReason,
    this.outOfContext,
    this.isDeleted = false,
    this.rating,
  }) : parts = List.unmodifiable(parts);

  /// Of a user's message the id that this device gave it, `m_17` of an answer.
  final String id;
  final Role role;
  final MessageState state;
  final List<MessagePart> parts;
  final DateTime time;

  /// Its turn; null until the service has told it.
  final int? seq;

  /// Of a pending message: why the last try did not get through.
  final MessageError? error;
  final String? finishReason;
  final OutOfContext? outOfContext;
  final bool isDeleted;
  final Rating? rating;

  /// Its text parts as one.
  late final String text = parts.whereType<TextPart>().map((part) => part.text).join('\n\n');
}

/// How full the context is: docs/reference/api.md, of which [json] has all.
final class ContextState {
  ContextState(Json json) : json = Map.unmodifiable(json);

  final Json json;

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
final class ChatState {
  ChatState({
    required List<Message> messages,
    required List<Message> transcript,
    this.title,
    this.context,
    this.hasOlder = false,
    this.hasNewer = false,
    this.isLoaded = false,
    this.problem,
  }) : messages = List.unmodifiable(messages),
       transcript = List.unmodifiable(transcript);

  /// Of the current branch, the oldest first.
  final List<Message> messages;

  /// All, those too that were replaced.
  final List<Message> transcript;
  final String? title;
  final ContextState? context;

  /// Before the first message, and behind the last one (after `loadAround`).
  final bool hasOlder;
  final bool hasNewer;

  /// Whether it was read since it is shown.
  final bool isLoaded;

  /// Why it cannot be read.
  final RecapException? problem;

  /// Whether an answer is on its way.
  late final bool isAnswering = messages.any(
    (message) => message.state == MessageState.queued || message.state == MessageState.running,
  );
}

/// The last message of a conversation.
final class LastMessage {
  const LastMessage({required this.seq, required this.role, required this.time, this.preview, this.isDeleted = false});

  final int seq;
  final Role role;
  final DateTime time;
  final String? preview;
  final bool isDeleted;
}

/// A row of the list.
final class ConversationRow {
  const ConversationRow({
    required this.id,
    required this.activeTime,
    this.title,
    this.metadata = const {},
    this.isArchived = false,
    this.isPinned = false,
    this.state = ConversationState.idle,
    this.lastMessage,
    this.lastSeq = 0,
    this.readSeq = 0,
    this.unreadCount = 0,
    this.pendingCount = 0,
    this.createTime,
    this.deleteTime,
    this.purgeTime,
  });

  final String id;
  final String? title;
  final Map<String, String> metadata;
  final bool isArchived;
  final bool isPinned;
  final ConversationState state;
  final LastMessage? lastMessage;
  final int lastSeq;
  final int readSeq;
  final int unreadCount;

  /// Messages that are not sent yet.
  final int pendingCount;
  final DateTime activeTime;
  final DateTime? createTime;

  /// Of one in the bin: since when, and until when.
  final DateTime? deleteTime;
  final DateTime? purgeTime;
}

/// Rows of one list: the pinned ones, then the newest.
final class ListState {
  ListState({required List<ConversationRow> rows, this.hasMore = false, this.isLoaded = false, this.problem})
    : rows = List.unmodifiable(rows);

  final List<ConversationRow> rows;
  final bool hasMore;
  final bool isLoaded;
  final RecapException? problem;
}

/// A message that a search has found.
final class SearchHit {
  const SearchHit({
    required this.conversationId,
    required this.seq,
    required this.role,
    required this.messageId,
    required this.snippet,
    this.title,
  });

  final String conversationId;

  /// For `chat.loadAround`.
  final int seq;
  final Role role;
  final String messageId;
  final String snippet;
  final String? title;
}

final class SearchResult {
  SearchResult({required List<SearchHit> hits, required Map<String, String> titles, this.nextPageToken})
    : hits = List.unmodifiable(hits),
      titles = Map.unmodifiable(titles);

  final List<SearchHit> hits;

  /// Of the conversations whose title has it, by their ids.
  final Map<String, String> titles;
  final String? nextPageToken;
}

/// A file that is sent with a message.
final class FileInput {
  const FileInput(this.bytes, this.mediaType, {this.name});

  final Uint8List bytes;

  /// Such as `image/jpeg`.
  final String mediaType;
  final String? name;
}

/// How a message is sent.
final class SendOptions {
  const SendOptions({this.onBusy, this.context = const {}, this.retention, this.responseSchema});

  /// By itself a message waits, and an edit takes the place of what is answered.
  final OnBusy? onBusy;

  /// What the app tells the model of the moment: docs/guides/client-context.md.
  final Json context;
  final Retention? retention;

  /// JSON Schema that the answer has to fit.
  final Json? responseSchema;
}

/// A call of a tool of the app.
typedef ToolCall = ({String conversationId, String callId});

/// Runs in the app; what it throws is told to the model.
typedef Tool = FutureOr<Object?> Function(Object? input, ToolCall call);

final class Timings {
  const Timings({
    this.silence = const Duration(seconds: 30),
    this.call = const Duration(seconds: 30),
    this.backOff = const [
      Duration(seconds: 1),
      Duration(seconds: 2),
      Duration(seconds: 4),
      Duration(seconds: 8),
      Duration(seconds: 16),
      Duration(seconds: 30),
    ],
    this.watch = const Duration(seconds: 2),
  });

  /// A stream without a byte for so long is lost.
  final Duration silence;

  /// A call without an answer for so long is lost.
  final Duration call;

  /// Pauses between tries; the last one is that of all further ones.
  final List<Duration> backOff;

  /// Between looks at a compaction that is on its way.
  final Duration watch;
}
