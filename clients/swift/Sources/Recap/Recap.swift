import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct RecapOptions: Sendable {
  let baseURL: URL
  let store: any RecapStore
  let idToken: @Sendable (_ force: Bool) async throws -> String
  let appCheckToken: (@Sendable () async throws -> String)?
  let tools: [String: Tool]
  let clientContext: @Sendable () -> [String: JSON]
  let timings: Timings
}

/// What all parts of a client use.
@RecapActor
final class Core {
  let options: RecapOptions
  let transport: Transport
  let requester: Requester
  let life: Life
  let saver: Saver

  init(_ options: RecapOptions, _ transport: Transport) {
    self.options = options
    self.transport = transport
    requester = Requester(options, transport)
    life = Life(options.timings)
    saver = Saver(options.store)
  }

  var store: any RecapStore { options.store }
}

func newId() -> String { UUID().uuidString.lowercased() }

/// Chats that are kept, those that were opened last.
private let chatsKept = 50
private let chatsKey = "chats"
private let deviceKey = "device"

private struct KeptDevice: Codable, Sendable {
  let id: String
  /// What was registered; nil: nothing is.
  var registered: JSON?
}

/// All that a client is made of.
@RecapActor
final class Client {
  private let options: RecapOptions
  private let transport: Transport
  private var readings: [String: Reading] = [:]
  private var keptChats: [String] = []
  private var keptLoading: Task<Void, Never>?
  private var isOtherUser = false

  private(set) lazy var core: Core = Core(options, transport)
  private(set) lazy var outbox: Outbox = Outbox(
    core,
    onChange: { [weak self] id in
      self?.readings[id]?.changed()
      self?.inbox.changed()
    },
    onTaken: { [weak self] entry, stream in
      guard let self else { return stream.close() }
      let seq = entry.seq ?? 0
      if entry.isToStop { core.life.tasks.run { try? await self.cancel(seq, entry.conversationId) } }
      reading(entry.conversationId, isNew: false).taken(seq, stream)
    })
  private(set) lazy var inbox: Inbox = Inbox(core, outbox) { [weak self] event in await self?.hear(event) }

  nonisolated init(_ options: RecapOptions, _ transport: Transport) {
    self.options = options
    self.transport = transport
  }

  /// Sends what was kept.
  func start() {
    core.requester.onOtherUser = { [weak self] error in
      guard let self else { return }
      isOtherUser = true
      outbox.onOtherUser(error)
      inbox.onOtherUser()
      for reading in readings.values { reading.hide() }
    }
    keptLoading = Task { keptChats = await core.store.read([String].self, chatsKey) ?? [] }
    _ = inbox
  }

  func reading(_ id: String, isNew: Bool) -> Reading {
    if let reading = readings[id] { return reading }
    let reading = Reading(id, isNew: isNew, core, outbox, inbox) { [weak self] in self?.noteOpened(id) }
    if isOtherUser { reading.hide() }
    readings[id] = reading
    return reading
  }

  func cancel(_ seq: Int, _ id: String) async throws {
    do {
      try await core.life.untilDone {
        _ = try await core.requester.call("POST", "/v1/conversations/\(id)/turns/t_\(seq):cancel")
      }
    } catch let error as RecapError where error.reason == "TURN_FINISHED" {
      // It has ended meanwhile.
    }
  }

  private func hear(_ event: UserEvent) async {
    switch event.type {
    case "conversation":
      guard let row = event.conversation else { return }
      // What was erased is erased from what is kept, too, of a chat that was not opened yet.
      let reading = event.erased == nil ? readings[row.id] : reading(row.id, isNew: false)
      await reading?.hear(row, event.erased)
    case "gone": await reading(event.conversationId ?? "", isNew: false).gone()
    case "reset":
      await keptLoading?.value
      for id in keptChats where readings[id]?.isOpen != true { await Reading.forget(id, core.saver) }
      for reading in readings.values where reading.isOpen {
        core.life.tasks.run { try? await reading.refresh() }
      }
    default: break
    }
  }

  private func noteOpened(_ id: String) {
    Task {
      await keptLoading?.value
      let others = keptChats.filter { $0 != id }
      for old in others.dropLast(chatsKept - 1) { await Reading.forget(old, core.saver) }
      keptChats = others.suffix(chatsKept - 1) + [id]
      core.saver.save(chatsKey) { self.keptChats }
    }
  }

  func setActive(_ isActive: Bool) {
    core.life.isActive = isActive
    if isActive { core.life.wake() }
    inbox.listen()
  }

  func close() async {
    core.life.close()
    inbox.listen()
    for topic in inbox.topics.values { topic.end() }
    for reading in readings.values {
      reading.leave()
      reading.topic.end()
    }
    await transport.close()
  }
}

/// The client of one signed-in user. It may be used from anywhere.
public final class Recap: Sendable {
  private let client: Client
  public let push: Push

  /// - Parameters:
  ///   - baseURL: address of the function, e.g. `https://chat-abc.run.app`.
  ///   - store: of this user alone.
  ///   - appCheckToken: where the service demands App Check.
  ///   - tools: by name, as the conversation declares them.
  ///   - clientContext: asked for with every message; what `send` is given goes before.
  ///   - idToken: the user's Firebase ID token; a new one if `force`.
  public init(
    baseURL: URL, store: any RecapStore, appCheckToken: (@Sendable () async throws -> String)? = nil,
    tools: [String: Tool] = [:], clientContext: @escaping @Sendable () -> [String: JSON] = { [:] },
    timings: Timings = Timings(), configuration: URLSessionConfiguration = .ephemeral,
    idToken: @escaping @Sendable (_ force: Bool) async throws -> String
  ) {
    let options = RecapOptions(
      baseURL: baseURL, store: store, idToken: idToken, appCheckToken: appCheckToken, tools: tools,
      clientContext: clientContext, timings: timings)
    client = Client(options, Transport(configuration))
    push = Push(client: client)
    Task { @RecapActor [client] in client.start() }
  }

  /// Those that are neither archived nor in the bin.
  public var conversations: ConversationList { list(.active) }

  public func list(_ name: ListName) -> ConversationList { ConversationList(name: name, client: client) }

  /// Without an id: a new one, which begins with its first message.
  public func chat(_ id: String? = nil) -> Chat {
    Chat(id: id?.lowercased() ?? newId(), client: client, isNew: id == nil)
  }

  @RecapActor
  public func search(_ query: String, pageToken: String? = nil) async throws -> SearchResult {
    try await client.core.requester.read("/v1/users/me/search", query: ["q": query, "pageToken": pageToken])
  }

  /// Moves all of a guest to this user, with what `guestStore` has not sent yet; returns how many conversations.
  @RecapActor
  @discardableResult
  public func claim(_ guestToken: String, _ guestStore: (any RecapStore)? = nil) async throws -> Int {
    let claimed = try await call("POST", "/v1/users/me:claim", body: ["guestToken": .string(guestToken)])
    if let guestStore { try await client.outbox.takeOver(guestStore) }
    return Int(claimed["conversations"]?.number ?? 0)
  }

  /// Where a file can be read, for some minutes.
  public func fileURL(_ uploadId: String) async throws -> URL? {
    try await call("GET", "/v1/uploads/\(uploadId)")["url"]?.text.flatMap { URL(string: $0) }
  }

  /// Whether the app is in front.
  public func setActive(_ isActive: Bool) {
    Task { @RecapActor in client.setActive(isActive) }
  }

  /// The device has a network again: what waits is tried at once.
  public func wake() {
    Task { @RecapActor in client.core.life.wake() }
  }

  /// The clock of the service.
  @RecapActor public var now: Date { client.core.requester.now }

  /// Any other call, such as `("GET", "/v1/users/me/usage")`.
  @RecapActor
  @discardableResult
  public func call(_ method: String, _ path: String, query: Query = [:], body: JSON? = nil) async throws -> JSON {
    try await client.core.requester.call(method, path, query: query, body: body)
  }

  /// Ends all connections, and all `states`. What is kept stays.
  @RecapActor
  public func close() async { await client.close() }
}

/// Rows of one list: the pinned ones, then the newest. It is live while its `states` are awaited.
public struct ConversationList: Sendable {
  public let name: ListName
  let client: Client

  /// What is shown now, and all that follows.
  public var states: AsyncStream<ListState> {
    Topic.states({ client.inbox.topics[name]! }, enter: { client.inbox.enter(name) }, exit: { client.inbox.release() })
  }

  @RecapActor public var state: ListState { client.inbox.state(name) }

  /// Reads the next page.
  @RecapActor public func loadMore() async throws { try await client.inbox.loadMore(name) }
}

/// Push messages to this installation.
public struct Push: Sendable {
  let client: Client

  public enum Platform: String, Sendable { case ios, android, web }

  /// At every start: the service is told only what is new. `token` is that of Firebase Cloud Messaging.
  @RecapActor
  public func register(_ token: String, _ platform: Platform = .ios, locale: String? = nil) async throws {
    let store = client.core.store
    let body = JSON.present([
      "token": .string(token), "platform": .string(platform.rawValue), "locale": locale.map(JSON.string),
    ])
    var device = await store.read(KeptDevice.self, deviceKey) ?? KeptDevice(id: newId())
    if device.registered == body { return }
    device.registered = nil
    try await store.write(device, deviceKey)
    _ = try await client.core.requester.call("PUT", "/v1/users/me/devices/\(device.id)", body: body)
    device.registered = body
    try await store.write(device, deviceKey)
  }

  /// At sign-out.
  @RecapActor
  public func unregister() async throws {
    let store = client.core.store
    guard let device = await store.read(KeptDevice.self, deviceKey), device.registered != nil else { return }
    _ = try await client.core.requester.call("DELETE", "/v1/users/me/devices/\(device.id)")
    // A deleted device is not taken again under its id.
    try await store.delete(deviceKey)
  }
}
