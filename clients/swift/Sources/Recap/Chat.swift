import Foundation

public struct SendOptions: Sendable {
  /// While another message is answered: wait (as it is by itself), take its place, or be refused.
  public enum OnBusy: String, Sendable { case queue, interrupt, reject }
  /// `keep`: stays word for word; `drop`: is folded first.
  public enum Retention: String, Sendable { case keep, normal, drop }

  public var files: [FileInput]
  public var onBusy: OnBusy?
  /// What the app tells the model of the moment.
  public var context: [String: JSON]
  public var retention: Retention?
  /// JSON Schema that the answer has to fit.
  public var responseSchema: JSON?

  public init(
    files: [FileInput] = [], onBusy: OnBusy? = nil, context: [String: JSON] = [:], retention: Retention? = nil,
    responseSchema: JSON? = nil
  ) {
    self.files = files
    self.onBusy = onBusy
    self.context = context
    self.retention = retention
    self.responseSchema = responseSchema
  }
}

private func parts(_ text: String) -> [Part] { text.isEmpty ? [] : [.text(text)] }

/// Parts as the API takes them; those that cannot be sent are left out.
private func inputs(_ parts: [Part]) -> JSON {
  let inputs: [JSON?] = parts.map { part in
    switch part {
    case .text(let text): return ["type": "text", "text": .string(text)]
    case .file(let file):
      if let uploadId = file.uploadId { return ["type": "file", "uploadId": .string(uploadId)] }
      let fields = ["mediaType": file.mediaType, "data": file.data, "url": file.url].mapValues { $0.map(JSON.string) }
      return .present(fields.merging(["type": "file"]) { first, _ in first })
    case .tool, .source, .notice: return nil
    }
  }
  return .array(inputs.compactMap { $0 })
}

/// One conversation. It is open while its `states` are awaited. What is told to throw, throws a RecapError.
public struct Chat: Sendable, Identifiable {
  public let id: String
  let client: Client
  let isNew: Bool

  @RecapActor private var reading: Reading { client.reading(id, isNew: isNew) }
  @RecapActor private var core: Core { client.core }

  /// What is shown now, and all that follows; of those that come too fast the newest.
  public var states: AsyncStream<ChatState> {
    Topic.states({ reading.topic }, enter: { reading.enter() }, exit: { reading.exit() })
  }

  /// What is shown now.
  @RecapActor public var state: ChatState { reading.state }

  // MARK: Messages

  /// Returns the message's id as soon as it is kept. Never throws: what comes of it is in its state.
  @discardableResult
  public func send(_ text: String, _ options: SendOptions = SendOptions()) async -> String {
    await send(parts(text), options)
  }

  @RecapActor
  @discardableResult
  public func send(_ parts: [Part], _ options: SendOptions = SendOptions()) async -> String {
    await add("/messages", parts, options, onBusy: .queue)
  }

  /// Says something else in place of a message of the user; all after it leaves the branch. Throws where it is not shown.
  @discardableResult
  public func edit(_ messageId: String, _ text: String, _ options: SendOptions = SendOptions()) async throws -> String {
    try await edit(messageId, parts(text), options)
  }

  @RecapActor
  @discardableResult
  public func edit(_ messageId: String, _ parts: [Part], _ options: SendOptions = SendOptions()) async throws -> String {
    guard let seq = try find(messageId).seq else {
      // The service does not have it: the new one is sent in its place.
      await client.outbox.drop(messageId)
      return await send(parts, options)
    }
    return await add("/messages/\(messageId):edit", parts, options, onBusy: .interrupt, replaces: seq)
  }

  /// Answers the last message anew. Throws where there is none.
  @RecapActor
  @discardableResult
  public func regenerate(context: [String: JSON] = [:]) async throws -> String {
    guard let last = state.messages.last(where: { $0.role == .user && $0.seq != nil }) else {
      throw RecapError(400, "NOT_THE_LAST_ANSWER", "There is no message that could be answered anew.")
    }
    let id = newId()
    let body: JSON = ["id": .string(id), "onBusy": "interrupt", "clientContext": clientContext(context)]
    let entry = Entry(
      id: id, conversationId: self.id, path: "/messages/\(last.id):regenerate", body: body, parts: last.parts,
      replaces: last.seq, time: core.requester.now)
    await add(entry, [])
    return id
  }

  @RecapActor
  private func add(
    _ path: String, _ parts: [Part], _ options: SendOptions, onBusy: SendOptions.OnBusy, replaces: Int? = nil
  ) async -> String {
    let id = newId()
    let message = JSON.present([
      "id": .string(id), "parts": inputs(parts), "retention": options.retention.map { .string($0.rawValue) },
    ])
    let body = JSON.present([
      "message": message, "onBusy": .string((options.onBusy ?? onBusy).rawValue),
      "responseSchema": options.responseSchema, "clientContext": clientContext(options.context),
    ])
    let entry = Entry(
      id: id, conversationId: self.id, path: path, body: body, parts: parts, replaces: replaces,
      time: core.requester.now)
    await add(entry, options.files)
    return id
  }

  @RecapActor
  private func add(_ entry: Entry, _ files: [FileInput]) async {
    let reading = reading
    core.life.tasks.run { try? await reading.loadNewest() }
    await client.outbox.add(entry, files)
  }

  @RecapActor
  private func clientContext(_ given: [String: JSON]) -> JSON {
    let device: [String: JSON] = [
      "timeZone": .string(TimeZone.current.identifier), "locale": .string(Locale.current.identifier(.bcp47)),
    ]
    return .object(device.merging(core.options.clientContext()) { $1 }.merging(given) { $1 })
  }

  @RecapActor
  private func find(_ messageId: String) throws -> Message {
    guard let found = state.transcript.first(where: { $0.id == messageId }) else {
      throw RecapError(404, "MESSAGE_NOT_FOUND", "This chat shows no message \(messageId).")
    }
    return found
  }

  /// Sends a message again that failed, or whose answer did. Throws where it is not shown.
  @RecapActor
  public func retry(_ messageId: String) async throws {
    let found = try find(messageId)
    let transcript = state.transcript
    let isOfTurn = { (role: Role) in { (message: Message) in message.role == role && message.seq == found.seq } }
    guard let asked = found.role == .user ? found : transcript.first(where: isOfTurn(.user)) else { return }
    let answer = asked.seq == nil ? nil : transcript.first(where: isOfTurn(.model))
    // It may have been answered meanwhile.
    if asked.state != .failed && answer?.state != .failed { return }
    if let seq = asked.seq { reading.forgetAnswer(seq) }
    // Of a message that this device did not send, the words are sent again in its place.
    if await !client.outbox.retry(asked.id) { try await edit(asked.id, asked.parts) }
  }

  /// Forgets a message that is not sent.
  @RecapActor
  public func discard(_ messageId: String) async { await client.outbox.drop(messageId) }

  /// Ends the answer that is being written; its text stays.
  @RecapActor
  public func stop() async throws {
    let row = client.inbox.row(id)
    if let seq = reading.unfinishedSeq ?? (row?.state == "running" ? row?.lastSeq : nil) {
      try await client.cancel(seq, id)
    } else if let pending = client.outbox.of(id).first(where: { $0.state == .pending }) {
      await client.outbox.markToStop(pending.id)
    }
  }

  /// Allows a call of the service's tool, or does not.
  @RecapActor
  public func approve(_ callId: String, _ isAllowed: Bool) async throws {
    let seq = callId.split(separator: "_").dropFirst().first.flatMap { Int($0) } ?? 0
    try await reading.giveResults(seq, [["callId": .string(callId), "approved": .bool(isAllowed)]])
  }

  @RecapActor
  public func deleteMessage(_ messageId: String) async throws {
    let seq = state.transcript.first { $0.id == messageId }?.seq
    try await call("DELETE", "/messages/\(messageId)")
    if let seq { try await reading.readAgain(seq) }
  }

  @RecapActor
  public func rate(_ messageId: String, _ rating: Rating, comment: String? = nil) async throws {
    let body = JSON.present(["rating": .string(rating.rawValue), "comment": comment.map(JSON.string)])
    try await call("PUT", "/messages/\(messageId)/feedback", body: body)
    if let seq = Int(messageId.dropFirst("m_".count)) { try await reading.readAgain(seq) }
  }

  // MARK: Reading

  /// Reads older ones; returns whether there are more. Throws.
  @RecapActor
  @discardableResult
  public func loadOlder(_ count: Int = 30) async throws -> Bool { try await reading.loadOlder(count) }

  /// The same, behind the last one after `loadAround`.
  @RecapActor
  @discardableResult
  public func loadNewer(_ count: Int = 30) async throws -> Bool { try await reading.loadNewer(count) }

  /// Shows the messages around a turn, such as a hit of a search. Throws.
  @RecapActor
  public func loadAround(_ seq: Int) async throws { try await reading.loadAround(seq) }

  /// Shows the newest ones again. Throws.
  @RecapActor
  public func loadNewest() async throws { try await reading.loadNewest() }

  /// The answers up to the last message shown, or `seq`, were seen.
  @RecapActor
  public func markRead(_ seq: Int? = nil) async {
    await client.inbox.markRead(id, seq ?? state.messages.compactMap(\.seq).max() ?? 0)
  }

  /// Reads again what may have changed. Throws.
  @RecapActor
  public func refresh() async throws { try await reading.refresh() }

  // MARK: The conversation. These change it in the list, too, and throw

  @RecapActor
  public func rename(_ title: String) async throws {
    try await change(\.title, title, ["title": .string(title)])
    reading.setTitle(title)
  }

  @RecapActor
  public func archive(_ isArchived: Bool = true) async throws {
    try await change(\.archived, isArchived, ["archived": .bool(isArchived)])
  }

  @RecapActor
  public func pin(_ isPinned: Bool = true) async throws {
    try await change(\.pinned, isPinned, ["pinned": .bool(isPinned)])
  }

  @RecapActor
  private func change<Value: Sendable>(
    _ field: WritableKeyPath<Row, Value>, _ value: Value, _ body: [String: JSON]
  ) async throws {
    try await client.inbox.change(id, field, value) {
      try await call("PATCH", query: ["updateMask": body.keys.first], body: .object(body))
    }
  }

  /// Into the bin for 30 days.
  @RecapActor
  public func remove() async throws {
    try await client.inbox.change(id, \.deleteTime, core.requester.now) { try await call("DELETE") }
  }

  /// Back from the bin.
  @RecapActor
  public func undelete() async throws {
    try await client.inbox.change(id, \.deleteTime, nil) { try await call("POST", ":undelete") }
  }

  @RecapActor
  public func compact() async throws {
    try await call("POST", ":compact", body: [:])
    try await reading.watchCompaction()
  }

  /// Any other call of it, such as `("GET", "/context")`. Throws.
  @RecapActor
  @discardableResult
  public func call(_ method: String, _ path: String = "", query: Query = [:], body: JSON? = nil) async throws -> JSON {
    try await core.requester.call(method, "/v1/conversations/\(id)\(path)", query: query, body: body)
  }
}
