import 'json.dart';
import 'model.dart';

/* What goes over the wire, as docs/reference/api.md has it: views of its JSON, which is kept as it came. */

extension type StoredMessage(Json json) {
  String get id => json['id']! as String;
  int get seq => json['seq']! as int;
  Role get role => roleOf(json);
  List<Json> get parts => listOf(json['parts']);

  /// `queued`, `running`, `awaiting_tool`, `done`, `failed` or `cancelled`.
  String get state => json['state']! as String;
  DateTime get createTime => DateTime.parse(json['createTime']! as String);
  String? get finishReason => json['finishReason'] as String?;
  Json? get outOfContext => json['outOfContext'] as Json?;

  /// First of the turns that its turn takes the place of.
  int? get replaces => json['replaces'] as int?;
  List<Json> get sources => listOf(json['sources']);
  bool get isDeleted => json['deleted'] == true;
  Json? get feedback => json['feedback'] as Json?;

  /// Of an answer: calls that it waits for, and why its turn failed.
  List<OpenCall> get openCalls => listOf(json['openCalls']);
  Json? get error => json['error'] as Json?;
}

extension type OpenCall(Json json) {
  String get callId => json['callId']! as String;
  String get name => json['name']! as String;
  Object? get args => json['args'];

  /// `output`, or `approved`.
  String get wants => json['wants']! as String;
}

/// An event of the list.
extension type UserEvent(Json json) {
  /// `conversation`, `gone`, `ready`, `reset` or `reconnect`.
  String get type => json['type']! as String;
  ConversationRow get conversation => ConversationRow(json['conversation']! as Json);
  String get conversationId => json['conversationId']! as String;

  /// What was erased of a conversation: so many turns in all, and which ones at last.
  ({int count, List<int> seqs})? get erased => switch (json['erased']) {
    {'count': final int count, 'seqs': final List<Object?> seqs} => (count: count, seqs: seqs.cast()),
    _ => null,
  };
}

SearchResult readSearch(Json json) => (
  hits: List.unmodifiable([
    for (final hit in listOf<Json>(json['hits']))
      (
        conversationId: hit['conversationId']! as String,
        seq: hit['seq']! as int,
        role: roleOf(hit),
        messageId: hit['messageId']! as String,
        snippet: hit['snippet']! as String,
        title: hit['title'] as String?,
      ),
  ]),
  titles: Map.unmodifiable({
    for (final title in listOf<Json>(json['titles'])) title['conversationId']! as String: title['title']! as String,
  }),
  nextPageToken: json['nextPageToken'] as String?,
);
