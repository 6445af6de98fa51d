import Foundation

/// A file of a message, which is kept with it.
public struct FileInput: Sendable {
  public let data: Data
  public let mediaType: String
  public let name: String?

  public init(_ data: Data, mediaType: String, name: String? = nil) {
    self.data = data
    self.mediaType = mediaType
    self.name = name
  }
}

/// A file that goes with a message. Its bytes stand under a key of their own.
struct KeptFile: Codable, Sendable {
  static let prefix = "file/"

  let mediaType: String
  let name: String?
  let key: String
  /// It has arrived.
  var uploadId: String?
}

/// What the user did, and what is sent for it.
struct Entry: Codable, Sendable {
  enum State: String, Codable {
    case pending
    /// The service has it, and its answer has not ended well yet.
    case taken
    case failed
  }

  /// Of the message.
  let id: String
  let conversationId: String
  /// Path below the conversation.
  let path: String
  /// The body, but for the parts of uploads.
  let body: JSON
  /// What is shown; of a regeneration the message that is answered anew.
  let parts: [Part]
  /// First of the turns that it takes the place of.
  let replaces: Int?
  let time: Date
  var files: [KeptFile] = []
  /// Later ones have a greater one.
  var order = 0
  var state = State.pending
  var seq: Int?
  var error: MessageError?
  /// The answer is to be stopped as soon as its turn is known.
  var isToStop = false

  static let prefix = "outbox/"
  var key: String { Self.prefix + "\(conversationId)/\(String(order + 1_000_000_000).dropFirst())/\(id)" }

  /// With the files where they have come to.
  func bodyData() throws -> Data {
    guard !files.isEmpty, case .object(var body) = body, case .object(var message) = body["message"] else {
      return try body.encoded()
    }
    let uploads = files.map { JSON.present(["type": "file", "uploadId": $0.uploadId.map(JSON.string)]) }
    message["parts"] = .array((message["parts"]?.items ?? []) + uploads)
    body["message"] = .object(message)
    return try JSON.object(body).encoded()
  }
}

extension RecapError {
  var ofMessage: MessageError {
    MessageError(
      reason: reason, message: message, isRetryable: code == 429 || reason == "TURN_IN_PROGRESS", resetTime: resetTime)
  }
}

/// What the user did and the service does not have yet, kept so that it is sent once, in order, whatever happens.
@RecapActor
final class Outbox {
  /// Taken ones that are kept, so that they can be sent again.
  private static let takenMax = 100
  /// Above every order of what is kept.
  private static let unkeptOrder = 900_000_000

  private let core: Core
  /// The entries of a conversation are others now.
  private let onChange: (_ conversationId: String) -> Void
  /// The service has it; whoever does not read the stream closes it.
  private let onTaken: (Entry, EventStream) -> Void

  private var entries: [String: Entry] = [:]
  /// Those since the start.
  private var added: Set<String> = []
  /// Shown, but not in the store yet: they are not sent.
  private var unkept: Set<String> = []
  /// Files that were added since the start, by their keys; those of before are in the store.
  private var bytes: [String: Data] = [:]
  /// Share that was sent of each file that is on its way, by its key.
  private var progress: [String: Double] = [:]
  /// Of these the files were uploaded a second time.
  private var uploadedAnew: Set<String> = []
  private var draining: Set<String> = []
  private var lastOrder = 0
  private var lastAdded: Task<Void, Never>?
  private var otherUser: RecapError?
  private var loading: Task<Void, Never>?

  init(
    _ core: Core, onChange: @escaping (_ conversationId: String) -> Void,
    onTaken: @escaping (Entry, EventStream) -> Void
  ) {
    self.core = core
    self.onChange = onChange
    self.onTaken = onTaken
    loading = Task { await load() }
  }

  /// What was kept before is known.
  func loaded() async { await loading?.value }

  func of(_ conversationId: String) -> [Entry] {
    entries.values
      .filter { $0.conversationId == conversationId && (otherUser == nil || added.contains($0.id)) }
      .sorted { $0.order < $1.order }
  }

  func find(_ id: String) -> Entry? { entries[id] }

  /// What waits, by conversation.
  func waiting() -> [String: [Entry]] {
    let pending = entries.values.filter { $0.state == .pending }.sorted { $0.order < $1.order }
    return Dictionary(grouping: pending) { $0.conversationId }
  }

  func progress(_ id: String, _ file: Int) -> Double? { progress[Self.fileKey(id, file)] }

  private static func fileKey(_ id: String, _ index: Int) -> String { KeptFile.prefix + "\(id)/\(index)" }

  private func load() async {
    // A store that cannot be read is no reason to send nothing.
    for key in (try? await core.store.keys(Entry.prefix)) ?? [] {
      guard let entry = await core.store.read(Entry.self, key) else { continue }
      lastOrder = max(lastOrder, entry.order)
      entries[entry.id] = entry
    }
    for conversationId in Set(entries.values.map(\.conversationId)) {
      onChange(conversationId)
      drain(conversationId)
    }
  }

  /// Shows an entry as it is now, and writes it.
  private func put(_ entry: Entry) async {
    entries[entry.id] = entry
    onChange(entry.conversationId)
    // It has no place yet: it is written with it.
    if !unkept.contains(entry.id) { await core.saver.save(entry.key) { entry }.value }
  }

  private func dropFiles(_ entry: Entry) async {
    for file in entry.files {
      bytes[file.key] = nil
      await core.saver.forget(file.key).value
    }
  }

  func drop(_ id: String) async {
    guard let entry = entries.removeValue(forKey: id) else { return }
    onChange(entry.conversationId)
    await core.saver.forget(entry.key).value
    await dropFiles(entry)
  }

  /// Shows it at once, keeps it, and returns: it is sent when its turn has come.
  func add(_ given: Entry, _ files: [FileInput]) async {
    var shown = given
    // Behind all that is kept, until it has its place.
    shown.order = Self.unkeptOrder + unkept.count
    shown.files = files.enumerated().map { index, file in
      KeptFile(mediaType: file.mediaType, name: file.name, key: Self.fileKey(given.id, index))
    }
    for (file, kept) in zip(files, shown.files) { bytes[kept.key] = file.data }
    added.insert(shown.id)
    unkept.insert(shown.id)
    entries[shown.id] = shown
    onChange(shown.conversationId)
    let before = lastAdded
    let kept = Task {
      await loaded()
      await before?.value
      await keep(shown)
    }
    lastAdded = kept
    await kept.value
  }

  /// Keeps what is shown already; only then it is sent.
  private func keep(_ shown: Entry) async {
    for file in shown.files {
      let data = bytes[file.key]
      await core.saver.save(file.key) { data?.base64EncodedString() }.value
    }
    unkept.remove(shown.id)
    // It was discarded meanwhile.
    guard var entry = entries[shown.id] else { return await dropFiles(shown) }
    if let otherUser { return disown(entry, otherUser) }
    lastOrder += 1
    entry.order = lastOrder
    await put(entry)
    drain(entry.conversationId)
  }

  /// Sends what waits in a conversation, one after the other.
  private func drain(_ conversationId: String) {
    if !draining.insert(conversationId).inserted { return }
    core.life.tasks.run { [self] in
      defer { draining.remove(conversationId) }
      while let next = of(conversationId).first(where: { $0.state == .pending && !unkept.contains($0.id) }) {
        do {
          try await core.life.untilDone { try await tryOnce(next.id) }
        } catch {
          return  // The client is closed.
        }
      }
    }
  }

  private func tryOnce(_ id: String) async throws {
    guard let entry = entries[id], entry.state == .pending else { return }
    do {
      await take(id, try await send(entry))
    } catch {
      try await refuse(id, RecapError.of(error))
    }
  }

  /// The stream of the turn that has the message.
  private func send(_ entry: Entry) async throws -> EventStream {
    var sent = entry
    for index in sent.files.indices where sent.files[index].uploadId == nil {
      sent.files[index].uploadId = try await upload(sent.files[index])
      // It may have been discarded, or be to stop, since the upload began.
      guard var entry = entries[sent.id] else { continue }
      entry.files = sent.files
      await put(entry)
    }
    let path = "/v1/conversations/\(entry.conversationId)\(entry.path)"
    let stream = try await core.requester.stream("POST", path, body: try sent.bodyData())
    if stream.seq != nil { return stream }
    // A page of somebody in between.
    stream.close()
    throw RecapError.offline
  }

  private func upload(_ file: KeptFile) async throws -> String {
    var data = bytes[file.key]
    if data == nil { data = await core.store.read(String.self, file.key).flatMap { Data(base64Encoded: $0) } }
    guard let data else {
      let message = "\(file.name ?? "The file") is not on this device any more. Send it again."
      throw RecapError(400, "FILE_LOST", message)
    }
    let about = JSON.present([
      "mimeType": .string(file.mediaType), "sizeBytes": .number(data.count), "name": file.name.map(JSON.string),
    ])
    let begun: UploadBegun = try await core.requester.read("/v1/uploads", method: "POST", body: about)
    show(0, of: file)
    defer { progress[file.key] = nil }
    try await core.requester.put(data, to: begun) { share in
      Task { @RecapActor in if self.progress[file.key] != nil { self.show(share, of: file) } }
    }
    return begun.uploadId
  }

  private func show(_ share: Double, of file: KeptFile) {
    progress[file.key] = share
    let id = file.key.split(separator: "/")[1]
    if let entry = entries[String(id)] { onChange(entry.conversationId) }
  }

  private func take(_ id: String, _ stream: EventStream) async {
    // It may have been discarded while it was on its way.
    guard var entry = entries[id] else { return stream.close() }
    entry.state = .taken
    entry.seq = stream.seq
    entry.error = nil
    entries[id] = entry
    onTaken(entry, stream)
    await put(entry)
    await dropFiles(entry)
    let others = entries.values.filter { $0.state == .taken }.sorted { $0.order < $1.order }
    for old in others.dropLast(Self.takenMax) { await drop(old.id) }
  }

  /// What a refusal changes. Throws it where the same is to be tried again after a pause.
  private func refuse(_ id: String, _ error: RecapError) async throws {
    // It may have been discarded, or disowned, since it was sent.
    guard var entry = entries[id], entry.state == .pending else { return }
    if error.reason == "UPLOAD_NOT_FOUND" && uploadedAnew.insert(id).inserted {
      for index in entry.files.indices { entry.files[index].uploadId = nil }
      return await put(entry)
    }
    if error.isPassing {
      // Not written: why a try did not get through is of this moment.
      entry.error = error.ofMessage
      entry.error?.isRetryable = true
      entries[id] = entry
      onChange(entry.conversationId)
      throw error
    }
    if error.reason == "TURN_IN_PROGRESS" && entry.body["onBusy"] == "queue" {
      // The queue of the service is full: there will be room.
      throw RecapError(503, error.reason, error.message, retryAfter: error.retryAfter)
    }
    entry.state = .failed
    entry.error = error.ofMessage
    await put(entry)
  }

  /// What somebody typed over the store of another user is not sent as that user.
  private func disown(_ given: Entry, _ error: RecapError) {
    var entry = given
    entry.state = .failed
    entry.error = error.ofMessage
    entries[entry.id] = entry
    onChange(entry.conversationId)
    core.saver.forget(entry.key)
    Task { await dropFiles(given) }
  }

  /// The store is not that of the user who is signed in.
  func onOtherUser(_ error: RecapError) {
    otherUser = error
    for entry in entries.values where added.contains(entry.id) && !unkept.contains(entry.id) {
      disown(entry, error)
    }
  }

  /// Sends a message again that was refused, or whose answer failed; returns whether it is known here.
  func retry(_ id: String) async -> Bool {
    guard var entry = entries[id] else { return false }
    if entry.state == .pending || otherUser != nil { return true }
    entry.state = .pending
    entry.error = nil
    entry.isToStop = false
    uploadedAnew.remove(id)
    await put(entry)
    drain(entry.conversationId)
    return true
  }

  func markToStop(_ id: String) async {
    guard var entry = entries[id] else { return }
    entry.isToStop = true
    await put(entry)
  }

  /// Takes over what another store has not sent.
  func takeOver(_ other: any RecapStore) async throws {
    await loaded()
    for key in try await other.keys(Entry.prefix) {
      let found = await other.read(Entry.self, key)
      let fileKeys = found?.files.map(\.key) ?? []
      if var entry = found, entry.state != .taken, entries[entry.id] == nil {
        for fileKey in fileKeys {
          if let base64 = try await other.get(fileKey) { try await core.store.set(fileKey, base64) }
        }
        lastOrder += 1
        entry.order = lastOrder
        await put(entry)
        drain(entry.conversationId)
      }
      for taken in [key] + fileKeys { try await other.delete(taken) }
    }
  }
}
