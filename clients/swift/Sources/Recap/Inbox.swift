import Foundation

/// Rows that are kept.
private let rowsKept = 100
private let previewCharacters = 120

private struct KeptInbox: Codable, Sendable {
  static let key = "inbox"

  let rows: [Row]
  let cursor: String?
}

extension Row {
  fileprivate var list: ListName { deleteTime != nil ? .deleted : archived ? .archived : .active }

  fileprivate static func isBefore(_ one: Row, _ other: Row) -> Bool {
    one.pinned != other.pinned ? one.pinned : one.activeTime > other.activeTime
  }

  /// The row of a conversation that has messages which are not sent yet.
  fileprivate static func with(_ row: Row?, _ pending: [Entry], _ last: Entry) -> Row {
    var shown = row ?? Row(id: last.conversationId, activeTime: last.time)
    let words = last.parts.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    shown.activeTime = max(shown.activeTime, last.time)
    shown.lastMessage = LastMessage(
      seq: shown.lastSeq + 1, role: .user, time: last.time, preview: String(words.prefix(previewCharacters)))
    shown.pendingCount = pending.count
    return shown
  }
}

/// The user's conversations: as they were kept, as the list tells, and as the events after it tell.
@RecapActor
final class Inbox {
  private static let readPrefix = "read/"

  let topics = Dictionary(uniqueKeysWithValues: ListName.allCases.map { ($0, Topic<ListState>()) })
  private let core: Core
  private let outbox: Outbox
  /// Returns when nothing more is kept of what the event says is gone.
  private let onEvent: (UserEvent) async -> Void

  private var rows: [String: Row] = [:]
  private var cursor: String?
  /// Where each list that was read goes on; nil: all of it is known.
  private var nextPages: [ListName: String?] = [:]
  private var wanted: Set<ListName> = []
  /// What was seen here and the service may not know yet.
  private var seen: [String: Int] = [:]
  private var telling: Set<String> = []
  private var problem: RecapError?
  private var isOtherUser = false
  /// So many look at a list or a chat.
  private var users = 0
  /// The stream; nil: there is none.
  private var listening: Tasks?
  /// Whether all that was missed has been told.
  private var isReady = false
  private let line = Line()
  private var loading: Task<Void, Never>?

  init(_ core: Core, _ outbox: Outbox, onEvent: @escaping (UserEvent) async -> Void) {
    self.core = core
    self.outbox = outbox
    self.onEvent = onEvent
    loading = Task { await load() }
  }

  private func load() async {
    if let kept = await core.store.read(KeptInbox.self, KeptInbox.key) {
      for row in kept.rows where rows[row.id] == nil { rows[row.id] = row }
      cursor = cursor ?? kept.cursor
    }
    for key in (try? await core.store.keys(Self.readPrefix)) ?? [] {
      let id = String(key.dropFirst(Self.readPrefix.count))
      guard let seq = await core.store.read(Int.self, key), seen[id] == nil else { continue }
      seen[id] = seq
      tellSeen(id)
    }
    changed()
  }

  // MARK: What is shown

  func row(_ id: String) -> Row? { rows[id] }

  func state(_ list: ListName) -> ListState {
    var state = ListState()
    state.rows = shownRows().filter { $0.list == list }.sorted(by: Row.isBefore)
    state.hasMore = (nextPages[list] ?? nil) != nil
    state.isLoaded = nextPages[list] != nil
    state.problem = problem
    return state
  }

  private func shownRows() -> [Row] {
    if isOtherUser { return [] }
    var shown = rows
    for (id, seq) in seen where seq >= rows[id]?.lastSeq ?? .max { shown[id]?.unreadCount = 0 }
    for (id, pending) in outbox.waiting() {
      if let last = pending.last { shown[id] = Row.with(shown[id], pending, last) }
    }
    return Array(shown.values)
  }

  func changed() {
    for (list, topic) in topics { topic.tell(state(list)) }
  }

  private func fail(_ error: any Error) {
    problem = RecapError.of(error)
    changed()
  }

  /// The store is not that of the user who is signed in: nothing of it is shown.
  func onOtherUser() {
    isOtherUser = true
    changed()
  }

  private func keep() {
    if isOtherUser { return }
    core.saver.save(KeptInbox.key) { [self] in
      let newest = rows.values.filter { $0.list == .active }.sorted(by: Row.isBefore)
      return KeptInbox(rows: Array(newest.prefix(rowsKept)), cursor: cursor)
    }
  }

  private func setRows(_ newer: [Row]) {
    for row in newer { rows[row.id] = row }
  }

  // MARK: Reading

  /// Reads the first page of a list, or the next one.
  private func readPage(_ list: ListName, _ pageToken: String? = nil) async throws {
    let path = "/v1/conversations"
    let query: Query = ["list": list.rawValue, "pageToken": pageToken]
    let page: ConversationsPage = try await core.requester.read(path, query: query)
    if pageToken == nil {
      // They stand before the others, however old they are.
      let pinned: ConversationsPage = try await core.requester.read(
        path, query: ["list": list.rawValue, "pinned": "true"])
      // What was kept and is not in it any more is gone.
      let oldest = page.nextPageToken == nil ? nil : page.conversations.last?.activeTime
      rows = rows.filter { $0.value.list != list || $0.value.activeTime < oldest ?? .distantPast }
      setRows(pinned.conversations)
    }
    setRows(page.conversations)
    nextPages[list] = .some(page.nextPageToken)
    problem = nil
    changed()
    keep()
  }

  private func readFirst() async throws {
    for list in wanted where nextPages[list] == nil { try await readPage(list) }
  }

  func loadMore(_ list: ListName) async throws {
    try await line.run { [self] in
      if case .some(.some(let pageToken)) = nextPages[list] { try await readPage(list, pageToken) }
    }
  }

  // MARK: Following

  func enter(_ list: ListName) -> ListState {
    wanted.insert(list)
    use()
    if isReady {
      core.life.tasks.run { [self] in
        do { try await line.run { try await self.readFirst() } } catch { fail(error) }
      }
    }
    return state(list)
  }

  /// Begins to follow, while anybody uses it.
  func use() {
    users += 1
    Task {
      await loading?.value
      listen()
    }
  }

  func release() {
    users -= 1
    listen()
  }

  /// Opens the stream, or closes it, as it is wanted now.
  func listen() {
    let isWanted = users > 0 && core.life.isActive && !core.life.isClosed
    if isWanted == (listening != nil) { return }
    listening?.end()
    listening = isWanted ? Tasks() : nil
    listening?.run { [self] in
      await core.life.keepReading(cursor: { self.cursor }, onProblem: fail) { try await self.readEvents() }
    }
  }

  private func readEvents() async throws -> Bool {
    isReady = false
    let stream = try await core.requester.stream("GET", "/v1/users/me/events", query: ["cursor": cursor])
    _ = try await stream.read { event in
      guard let told = try? WireTime.decoder.decode(UserEvent.self, from: Data(event.data.utf8)) else { return }
      // In turn: an event that comes while a page is read may be newer than what the page has.
      try await line.run { [self] in
        do {
          try await apply(told)
        } catch {
          // It comes again.
          fail(error)
          throw error
        }
        cursor = event.id ?? cursor
        keep()
      }
    }
    return false
  }

  private func apply(_ event: UserEvent) async throws {
    switch event.type {
    case "conversation":
      guard let row = event.conversation else { break }
      setRows([row])
      if let seq = seen[row.id], row.readSeq >= seq { forgetSeen(row.id) }
    case "gone": rows[event.conversationId ?? ""] = nil
    case "ready":
      isReady = true
      problem = nil
      try await readFirst()
    case "reset":
      isReady = true
      rows = [:]
      nextPages = [:]
      try await readFirst()
    default: break
    }
    changed()
    await onEvent(event)
  }

  // MARK: Changing

  /// Shows a change at once, and takes it back where it is refused. Throws RecapError.
  func change<Value: Sendable>(
    _ id: String, _ field: WritableKeyPath<Row, Value>, _ value: Value, _ work: () async throws -> Void
  ) async throws {
    let before = rows[id]
    rows[id]?[keyPath: field] = value
    changed()
    do {
      try await work()
      keep()
    } catch {
      if let before { rows[id]?[keyPath: field] = before[keyPath: field] }
      changed()
      throw RecapError.of(error)
    }
  }

  func markRead(_ id: String, _ seq: Int) async {
    let known = rows[id].flatMap { $0.unreadCount == 0 ? $0.readSeq : nil }
    if seq <= max(seen[id] ?? 0, known ?? -1) { return }
    seen[id] = seq
    changed()
    await core.saver.save(Self.readPrefix + id) { seq }.value
    tellSeen(id)
  }

  private func forgetSeen(_ id: String) {
    seen[id] = nil
    core.saver.forget(Self.readPrefix + id)
  }

  /// Tells the service what was seen, until it knows.
  private func tellSeen(_ id: String) {
    if !telling.insert(id).inserted { return }
    core.life.tasks.run { [self] in
      do {
        try await core.life.untilDone {
          while let seq = seen[id] {
            let path = "/v1/conversations/\(id):read"
            let row: Row = try await core.requester.read(path, method: "POST", body: ["seq": .number(seq)])
            if rows[id] != nil { setRows([row]) }
            if seen[id] == seq { forgetSeen(id) }
            changed()
          }
        }
      } catch {
        if !core.life.isClosed { forgetSeen(id) }
      }
      telling.remove(id)
    }
  }
}
