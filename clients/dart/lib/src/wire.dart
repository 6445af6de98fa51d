import 'json.dart';
import 'model.dart';

/* What goes over the wire, as docs/reference/api.md has it: views of its JSON, which is kept as it came. */

extension type StoredMessage(Json json) {
  String get id => json['id']! as String;
  int get seq => json['seq']! as int;
  Role get role => Role.values.byName(json['role']! as String);
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
}

/// What a turn tells of itself.
extension type Turn(Json json) {
  int get seq => json['seq']! as int;
  String get messageId => json['messageId']! as String;
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

extension type StoredRow(Json json) {
  String get id => json['id']! as String;
  String? get title => json['title'] as String?;
  ListName get list => json['deleteTime'] != null
      ? ListName.deleted
      : json['archived'] == true
      ? ListName.archived
      : ListName.active;

  /// `idle`, `running`, `waiting` or `failed`.
  String get state => json['state']! as String;
  int get lastSeq => json['lastSeq']! as int;
  int get readSeq => json['readSeq']! as int;
  int get unreadCount => json['unreadCount']! as int;
  DateTime get activeTime => DateTime.parse(json['activeTime']! as String);

  ConversationRow shown({required bool isSeen}) {
    final last = json['lastMessage'] as Json?;
    DateTime? timeOf(String field) => DateTime.tryParse('${json[field]}');
    return ConversationRow(
      id: id,
      title: title,
      metadata: Map.unmodifiable((json['metadata'] as Json? ?? const {}).cast<String, String>()),
      isArchived: json['archived'] == true,
      isPinned: json['pinned'] == true,
      state: ConversationState.values.asNameMap()[state] ?? ConversationState.idle,
      lastMessage: last == null
          ? null
          : LastMessage(
              seq: last['seq']! as int,
              role: Role.values.byName(last['role']! as String),
              time: DateTime.parse(last['time']! as String),
              preview: last['preview'] as String?,
              isDeleted: last['deleted'] == true,
            ),
      lastSeq: lastSeq,
      readSeq: readSeq,
      unreadCount: isSeen ? 0 : unreadCount,
      activeTime: activeTime,
      createTime: timeOf('createTime'),
      deleteTime: timeOf('deleteTime'),
      purgeTime: timeOf('purgeTime'),
    );
  }
}

/// An event of the list.
extension type UserEvent(Json json) {
  /// `conversation`, `gone`, `ready`, `reset` or `reconnect`.
  String get type => json['type']! as String;
  StoredRow get conversation => StoredRow(json['conversation']! as Json);
  String get conversationId => json['conversationId']! as String;

  /// What was erased of a conversation: so many turns in all, and which ones at last.
  ({int count, List<int> seqs})? get erased => switch (json['erased']) {
    {'count': final int count, 'seqs': final List<Object?> seqs} => (count: count, seqs: seqs.cast()),
    _ => null,
  };
}

SearchResult readSearch(Json json) => SearchResult(
  hits: [
    for (final hit in listOf<Json>(json['hits']))
      SearchHit(
        conversationId: hit['conversationId']! as String,
        seq: hit['seq']! as int,
        role: Role.values.byName(hit['role']! as String),
        messageId: hit['messageId']! as String,
        snippet: hit['snippet']! as String,
        title: hit['title'] as String?,
      ),
  ],
  titles: {
    for (final title in listOf<Json>(json['titles'])) title['conversationId']! as String: title['title']! as String,
  },
  nextPageToken: json['nextPageToken'] as String?,
);
