import Foundation

/// Messages that are read at once when a chat opens, and that are kept.
private let newestMessages = 50
/// Of a page of the API.
private let pageMessages = 100
/// Turns in memory; what is dropped at the other end is read again when it is scrolled to.
private let turnsMax = 1_000
/// Who has missed more turns begins anew from the newest.
private let catchUpTurnsMax = 100
/// Turns on each side of one that is jumped to.
private let aroundTurns = 12
/// Replies of a stream after which the stored message tells the rest.
private let storedCodes = [403, 404, 410]

/// What is kept of a chat.
private struct KeptChat: Codable, Sendable {
  let messages: [StoredMessage]
  let title: String?
  let context: ContextState?
  let erasedCount: Int
  /// Answers as they were streamed, whose stored messages were not read yet.
  let live: [Int: LiveAnswer]

  static func key(_ id: String) -> String { "chat/\(id)" }
}

/// What is shown of a conversation: kept, read, and followed while somebody looks.
@RecapActor
final class Reading {
  let id: String
  let topic = Topic<ChatState>()
  private let core: Core
  private let outbox: Outbox
  private let inbox: Inbox
  /// It is looked at: of the chats that are kept it is the last to be forgotten.
  private let onOpen: () -> Void

  private var turns = Turns()
  private var live: [Int: LiveAnswer] = [:]
  /// Replies that began a turn and are not read yet.
  private var begun: [Int: EventStream] = [:]
  private(set) var title: String?
  private var context: ContextState?
  private var erasedCount = 0
  /// A new one begins with its first message: until then there is nothing to read.
  private var hasBegun: Bool
  private var isLoaded = false
  private var hasNewer = false
  private var isHidden = false
  private var problem: RecapError?
  /// What is done while somebody looks; nil while nobody does.
  private var looking: Tasks?
  /// The turn whose stream is read.
  private var followed: Int?
  private var isFollowing = false
  private var callsRun: Set<String> = []
  private let line = Line()

  init(_ id: String, isNew: Bool, _ core: Core, _ outbox: Outbox, _ inbox: Inbox, onOpen: @escaping () -> Void) {
    self.id = id
    self.core = core
    self.outbox = outbox
    self.inbox = inbox
    self.onOpen = onOpen
    hasBegun = !isNew
  }

  private var path: String { "/v1/conversations/\(id)" }
  private var life: Life { core.life }

  // MARK: What is shown

  var state: ChatState {
    let shown = Transcript(turns: turns, live: live, entries: outbox.of(id), progress: outbox.progress).shown()
    var state = ChatState()
    state.messages = shown.messages
    state.transcript = shown.transcript
    state.title = title
    state.context = context
    state.hasOlder = turns.first > 1
    state.hasNewer = hasNewer
    state.isLoaded = isLoaded
    state.isAnswering = shown.messages.contains { $0.state.isUnfinished }
    state.problem = problem
    return state
  }

  func changed() { topic.tell(state) }

  private func fail(_ error: RecapError) {
    problem = error
    changed()
  }

  private func keep() {
    // What is kept is shown without a connection: the newest.
    if hasNewer || isHidden { return }
    let kept = KeptChat(
      messages: turns.messages.suffix(newestMessages), title: title, context: context, erasedCount: erasedCount,
      live: live)
    core.saver.save(KeptChat.key(id)) { kept }
  }

  static func forget(_ id: String, _ saver: Saver) async { await saver.forget(KeptChat.key(id)).value }

  // MARK: Opening and leaving

  var isOpen: Bool { looking != nil }

  /// Somebody looks; what they see now.
  func enter() -> ChatState {
    if looking == nil {
      let looking = Tasks()
      self.looking = looking
      inbox.use()
      looking.run { await self.open() }
    }
    return state
  }

  /// One who looked has left.
  func exit() {
    if !topic.isEmpty || looking == nil { return }
    leave()
    inbox.release()
  }

  func leave() {
    looking?.end()
    looking = nil
    for stream in begun.values { stream.close() }
    begun = [:]
    // An app may open any number of chats: of one that is closed as much stays as is kept.
    turns = hasNewer ? Turns() : turns.bounded(newestMessages / 2, dropping: .oldest)
    isLoaded = isLoaded && !hasNewer
    hasNewer = false
  }

  private func open() async {
    movedAt = .now
    await outbox.loaded()
    if !isLoaded, let kept = await core.store.read(KeptChat.self, KeptChat.key(id)), turns.isEmpty, !isHidden {
      turns = Turns(kept.messages)
      title = kept.title
      context = kept.context
      erasedCount = kept.erasedCount
      live.merge(kept.live) { now, _ in now }
    }
    changed()
    onOpen()
    await readUntilDone()
    follow()
  }

  /// Shows nothing of what is kept: it is another user's.
  func hide() {
    isHidden = true
    clear()
  }

  private func clear() {
    turns = Turns()
    live = [:]
    title = nil
    context = nil
    changed()
  }

  /// Nothing is left of it.
  func gone() async {
    clear()
    await Self.forget(id, core.saver)
  }

  // MARK: Reading

  private func readMessages(_ query: Query) async throws -> [StoredMessage] {
    let page: MessagesPage = try await core.requester.read("\(path)/messages", query: query)
    return page.messages
  }

  /// The turns from `first` to `last`; as many as a page has, at most.
  private func readTurns(_ first: Int, _ last: Int) async throws -> Turns {
    let size = min(pageMessages, 2 * (last - first + 1))
    let messages = try await readMessages(["afterSeq": "\(first - 1)", "pageSize": "\(size)"])
    return Turns(messages.filter { $0.seq <= last })
  }

  private func readNewest() async throws {
    let read = Turns(try await readMessages(["order": "desc", "pageSize": "\(newestMessages)"]))
    // The oldest of a page may be an answer without its question.
    turns = read.keeping { seq, turn in turn.user != nil || seq > read.first }
    hasNewer = false
  }

  /// Reads what came, or may have changed, since it was read.
  private func readChanges() async throws {
    let newest = max(inbox.row(id)?.lastSeq ?? 0, begun.keys.max() ?? 0)
    if newest - turns.last > catchUpTurnsMax { return try await readNewest() }
    // The last turn may have been answered once more.
    var from = turns.open.first ?? max(1, turns.last)
    // So were older ones that were asked for again; one that is not shown is read with its page.
    live = live.filter { seq, _ in seq >= from || turns[seq] != nil }
    for seq in live.keys where seq < from { turns = turns.merging(try await readTurns(seq, seq)) }
    while true {
      let upTo = from + pageMessages / 2 - 1
      let read = try await readTurns(from, upTo)
      turns = turns.extended(by: read).bounded(turnsMax, dropping: .oldest)
      if read.last < upTo { return }
      from = turns.last + 1
    }
  }

  /// Forgets what was streamed before the messages were read that tell more, and entries whose answer ended well.
  private func settle(_ before: [Int: LiveAnswer]) {
    let unfinished = turns.open
    let isOver = { [turns] (seq: Int) in turns[seq] != nil && !unfinished.contains(seq) }
    for (seq, answer) in before where isOver(seq) && seq != followed && live[seq]?.lastEventId == answer.lastEventId {
      live[seq] = nil
    }
    for entry in outbox.of(id) where entry.state == .taken {
      guard let seq = entry.seq, isOver(seq), turns[seq]?.user?.stored.state != "failed" else { continue }
      Task { await outbox.drop(entry.id) }
    }
  }

  private func readAbout() async throws {
    let (titleBefore, contextBefore) = (title, context)
    let about: About = try await core.requester.read(path)
    // What an answer has told meanwhile is newer.
    if title == titleBefore { title = about.title }
    if context == contextBefore { context = about.context }
  }

  private func readAll() async throws {
    if !hasBegun {
      isLoaded = true
      return
    }
    let before = live
    do {
      if !isLoaded { try await readNewest() } else if !hasNewer { try await readChanges() }
      settle(before)
      for seq in turns.waiting { life.tasks.run { await self.runCalls(seq) } }
      try await readAbout()
    } catch let error as RecapError where error.reason == "CONVERSATION_NOT_FOUND" {
      // It begins with its first message.
      turns = Turns()
    }
    isLoaded = true
    keep()
  }

  /// One after the other: what is read later is newer. Throws RecapError.
  private func inTurn(_ work: @escaping @RecapActor () async throws -> Void) async throws {
    try await line.run { [self] in
      do {
        try await work()
        problem = nil
        changed()
      } catch {
        fail(RecapError.of(error))
        throw RecapError.of(error)
      }
    }
  }

  /// Reads what may have changed, and follows what is being answered.
  func refresh() async throws {
    try await inTurn { try await self.readAll() }
    follow()
  }

  /// Reads until it works; what is final is the `problem`.
  private func readUntilDone() async {
    try? await life.untilDone { try await inTurn { try await self.readAll() } }
  }

  func readAgain(_ seq: Int) async throws {
    try await inTurn { [self] in
      turns = turns.merging(try await readTurns(seq, seq))
      keep()
    }
  }

  func loadOlder(_ count: Int) async throws -> Bool {
    try await inTurn { [self] in
      if turns.first <= 1 { return }
      let older = try await readTurns(max(1, turns.first - (count + 1) / 2), turns.first - 1)
      let all = turns.extended(by: older)
      turns = all.bounded(turnsMax, dropping: .newest)
      if turns.last < all.last { hasNewer = true }
    }
    return turns.first > 1
  }

  func loadNewer(_ count: Int) async throws -> Bool {
    try await inTurn { [self] in
      if !hasNewer { return }
      let upTo = turns.last + (count + 1) / 2
      let newer = try await readTurns(turns.last + 1, upTo)
      turns = turns.extended(by: newer).bounded(turnsMax, dropping: .oldest)
      hasNewer = newer[upTo] != nil
    }
    follow()
    return hasNewer
  }

  func loadAround(_ seq: Int) async throws {
    try await inTurn { [self] in
      turns = try await readTurns(max(1, seq - aroundTurns), seq + aroundTurns)
      hasNewer = turns[seq + aroundTurns] != nil
      isLoaded = true
    }
  }

  /// Shows the newest messages, where older ones are shown.
  func loadNewest() async throws {
    if !hasNewer { return }
    isLoaded = false
    try await refresh()
  }

  // MARK: Following answers

  /// Turns that are being answered, or wait to be, as the messages say or as their streams do.
  private var unfinished: [Int] {
    Set(turns.running + live.filter { $0.value.state.isUnfinished }.keys).sorted()
  }

  /// The turn that is being answered, or waits to be.
  var unfinishedSeq: Int? { unfinished.first ?? turns.waiting.first ?? followed }

  /// An answer is asked for again.
  func forgetAnswer(_ seq: Int) {
    live[seq] = nil
  }

  /// The service has a message: whoever looks reads its answer, one after the other.
  func taken(_ seq: Int, _ stream: EventStream) {
    hasBegun = true
    live[seq] = LiveAnswer(.queued)
    if isOpen && !isFollowing { begun[seq] = stream } else { stream.close() }
    changed()
    follow()
  }

  /// Follows one answer after the other, while somebody looks.
  private func follow() {
    guard let looking, !isFollowing, !hasNewer else { return }
    if unfinished.isEmpty { return watchContext() }
    isFollowing = true
    looking.run(followAll)
  }

  private func followAll() async {
    var last: Int?
    var looks = 0
    while let seq = unfinished.first, !Task.isCancelled {
      // One that is still running behind the end of its stream is looked at again, but not at once.
      looks = last == seq ? looks + 1 : 0
      last = seq
      if looks > 0 { await life.pause(after: nil, failures: looks) }
      followed = seq
      await life.keepReading(cursor: { self.live[seq]?.lastEventId }) { try await self.readStream(seq) }
      begun.removeValue(forKey: seq)?.close()
      followed = nil
      keep()
      if !Task.isCancelled { await readUntilDone() }
    }
    isFollowing = false
    // Somebody may have come back meanwhile.
    if Task.isCancelled { follow() } else { watchContext() }
  }

  /// Reads one connection of an answer; returns whether nothing more is to be read: the stored message is the truth.
  private func readStream(_ seq: Int) async throws -> Bool {
    let cursor = live[seq]?.lastEventId
    do {
      var stream = begun.removeValue(forKey: seq)
      if stream == nil {
        let path = "\(path)/turns/t_\(seq)/stream"
        stream = try await core.requester.stream("GET", path, query: ["startingAfter": cursor])
      }
      guard let stream, stream.code != 204 else { return true }
      // Without a cursor all of it comes again.
      if cursor == nil { live[seq] = LiveAnswer(live[seq]?.state ?? .queued) }
      if try await !stream.read({ try self.take($0, seq) }) { throw RecapError.offline }
      return true
    } catch let error as RecapError where storedCodes.contains(error.code) {
      return true
    } catch let error as RecapError where error.code == 400 {
      // The cursor is not one of this turn: once more without it.
      live[seq]?.lastEventId = nil
      if cursor == nil { return true }
      throw error
    }
  }

  private func take(_ event: ServerEvent, _ seq: Int) throws {
    // The service could not read on: what it says of that is not of the answer.
    guard let id = event.id else { throw RecapError.offline }
    // One that cannot be read is of a later version of the service.
    if let chunk = try? WireTime.decoder.decode(StreamChunk.self, from: Data(event.data.utf8)) {
      live[seq]?.take(chunk)
      if chunk.type == "data-context" { context = chunk.data?.decoded(ContextState.self) ?? context }
      if chunk.type == "data-title" { title = chunk.data?["title"]?.text ?? title }
    }
    live[seq]?.lastEventId = id
    changed()
  }

  // MARK: Tools

  /// Runs what the model asks of the app, on the device that sent the message.
  private func runCalls(_ seq: Int) async {
    guard let turn = turns[seq], outbox.find(turn.user?.stored.id ?? "")?.state == .taken else { return }
    let open = turn.answer?.stored.openCalls ?? []
    let calls = open.filter { $0.wants == "output" && callsRun.insert($0.callId).inserted }
    if calls.isEmpty { return }
    let results = await runTools(core.options.tools, id, calls)
    do { try await giveResults(seq, results) } catch { fail(RecapError.of(error)) }
  }

  /// Sends results until they are taken.
  func giveResults(_ seq: Int, _ results: [JSON]) async throws {
    let body = try JSON.object(["results": .array(results)]).encoded()
    try await life.untilDone {
      // Its stream goes on where the turn's did: it is read there.
      try await core.requester.stream("POST", "\(path)/turns/t_\(seq)/toolResults", body: body).close()
      try await refresh()
    }
  }

  // MARK: The context

  private var movedAt = ContinuousClock.now
  private var watcher: Task<Void, Never>?

  /// Looks again while a compaction is on its way: no stream tells of its end.
  private func watchContext() {
    watcher?.cancel()
    guard let looking, let pause = context?.watchPause(life.timings.watch, unchanged: .now - movedAt) else { return }
    watcher = looking.run { [self] in
      try? await Task.sleep(for: pause)
      if Task.isCancelled { return }
      let before = context
      try? await readAbout()
      if context != before {
        movedAt = .now
        changed()
        keep()
      }
      if !Task.isCancelled { watchContext() }
    }
  }

  /// A compaction was asked for.
  func watchCompaction() async throws {
    try await readAbout()
    movedAt = .now
    changed()
    watchContext()
  }

  func setTitle(_ title: String) {
    self.title = title
    changed()
  }

  // MARK: News of the list

  /// Its row has changed, perhaps by another device. Returns when nothing is kept that was erased.
  func hear(_ row: Row, _ erased: UserEvent.Erased?) async {
    hasBegun = true
    if let erased { await forgetErased(erased.count) }
    guard let looking else { return }
    title = row.title ?? title
    changed()
    if let erased { looking.run { [self] in try? await life.untilDone { try await readErased(erased) } } }
    let last = turns[turns.last]
    let lastState = last?.user?.stored.state == "failed" ? "failed" : "idle"
    let isKnown = row.lastSeq <= turns.last && row.state == lastState
    // The end of what is followed is read anyway.
    if !isLoaded || isFollowing || isKnown { return }
    looking.run { [self] in
      await readUntilDone()
      follow()
    }
  }

  /// What is kept has something that was erased: it is forgotten, until it is read again.
  private func forgetErased(_ count: Int) async {
    let kept = isLoaded ? nil : await core.store.read(KeptChat.self, KeptChat.key(id))
    if count <= (isLoaded ? erasedCount : kept?.erasedCount ?? count) { return }
    if isOpen { return await Self.forget(id, core.saver) }
    isLoaded = false
    await gone()
  }

  /// Reads turns again of which something was erased.
  private func readErased(_ erased: UserEvent.Erased) async throws {
    let newCount = erased.count - erasedCount
    if newCount <= 0 { return }
    if newCount > erased.seqs.count {
      isLoaded = false
      try await refresh()
    } else {
      for seq in erased.seqs.suffix(newCount) where turns[seq] != nil { try await readAgain(seq) }
    }
    erasedCount = erased.count
  }
}
