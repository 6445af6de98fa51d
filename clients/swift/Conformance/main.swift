import Foundation
import Recap

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/* A client of the conformance suite: does what the judge says, and tells it what is shown. clients/conformance/README.md */

struct Failure: LocalizedError {
  let errorDescription: String?
  init(_ text: String) { errorDescription = text }
}

/// What the judge says and is told.
struct Control: Sendable {
  let address: String
  private let session = URLSession(configuration: .ephemeral)

  init(_ address: String) { self.address = address }

  /// nil: there is nothing yet.
  func ask(_ path: String, _ body: JSON? = nil) async throws -> JSON? {
    guard let url = URL(string: address + path) else { throw Failure("no address") }
    var request = URLRequest(url: url)
    request.httpMethod = body == nil ? "GET" : "POST"
    request.httpBody = try body.map { try JSONEncoder().encode($0) }
    let (data, code) = try await withCheckedThrowingContinuation { (done: CheckedContinuation<(Data, Int), any Error>) in
      session.dataTask(with: request) { data, response, error in
        if let error { return done.resume(throwing: error) }
        done.resume(returning: (data ?? Data(), (response as? HTTPURLResponse)?.statusCode ?? 0))
      }.resume()
    }
    if code == 204 { return nil }
    if code != 200 { throw Failure("HTTP \(code)") }
    return try JSONDecoder().decode(JSON.self, from: data)
  }
}

/// As where the disk is full.
struct RefusingStore: RecapStore {
  func get(_ key: String) throws -> String? { throw Failure("the disk is full") }
  func set(_ key: String, _ value: String) throws { throw Failure("the disk is full") }
  func delete(_ key: String) throws { throw Failure("the disk is full") }
  func keys(_ prefix: String) throws -> [String] { throw Failure("the disk is full") }
}

/// Counts how often a tool ran.
actor Runs {
  private var count = 0.0
  func next() -> JSON {
    count += 1
    return ["runs": .number(count)]
  }

  /// Returns when so many are under way.
  func meet(_ others: Double) async throws -> JSON {
    count += 1
    while count < others { try await Task.sleep(for: .milliseconds(2)) }
    return ["runs": .number(others)]
  }
}

func tool(_ script: JSON) -> Tool {
  let runs = Runs()
  return { _, _ in
    if let message = script["throws"]?.text { throw Failure(message) }
    if let given = script["returns"] { return given }
    if let others = script["meets"]?.number { return try await runs.meet(others) }
    return await runs.next()
  }
}

func encoded(_ value: some Encodable) throws -> JSON {
  let encoder = JSONEncoder()
  encoder.dateEncodingStrategy = .custom { date, to in
    // To milliseconds, where there are any.
    let rounded = Date(timeIntervalSince1970: (date.timeIntervalSince1970 * 1000).rounded() / 1000 + 0.0001)
    let hasFraction = Int((date.timeIntervalSince1970 * 1000).rounded()) % 1000 != 0
    var value = to.singleValueContainer()
    try value.encode(rounded.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)))
  }
  return try JSONDecoder().decode(JSON.self, from: encoder.encode(value))
}

func json(_ error: any Error) -> JSON {
  guard let error = error as? RecapError else { return ["reason": "NOT_A_RECAP_ERROR", "message": .string("\(error)")] }
  return ["reason": .string(error.reason), "code": .number(Double(error.code)), "message": .string(error.message)]
}

func object(_ fields: [String: JSON?]) -> JSON { .object(fields.compactMapValues { $0 }) }

func json(_ message: Message) throws -> JSON {
  .object(try encoded(message).fields.merging(["text": .string(message.text)]) { $1 })
}

func json(_ state: ChatState) throws -> JSON {
  object([
    "messages": .array(try state.messages.map { try json($0) }),
    "transcript": .array(try state.transcript.map { try json($0) }),
    "title": state.title.map(JSON.string), "context": try state.context.map { try encoded($0) },
    "hasOlder": .bool(state.hasOlder), "hasNewer": .bool(state.hasNewer), "isLoaded": .bool(state.isLoaded),
    "isAnswering": .bool(state.isAnswering), "problem": state.problem.map { json($0) },
  ])
}

func json(_ state: ListState) throws -> JSON {
  let rows = try state.rows.map { row in
    JSON.object(try encoded(row).fields.merging(["pendingCount": .number(Double(row.pendingCount))]) { $1 })
  }
  return object([
    "rows": .array(rows), "hasMore": .bool(state.hasMore), "isLoaded": .bool(state.isLoaded),
    "problem": state.problem.map { json($0) },
  ])
}

func input(_ value: JSON) throws -> ([Part], SendOptions) {
  if let text = value.text { return ([.text(text)], SendOptions()) }
  let parts = try value["parts"].map { try JSONDecoder().decode([Part].self, from: JSONEncoder().encode($0)) }
  let said = value["text"]?.text.map { [Part.text($0)] }
  let files = value["files"]?.items.map { file in
    FileInput(
      Data(base64Encoded: file["base64"]?.text ?? "") ?? Data(), mediaType: file["type"]?.text ?? "",
      name: file["name"]?.text)
  }
  let options = SendOptions(
    files: files ?? [], onBusy: value["onBusy"]?.text.flatMap(SendOptions.OnBusy.init),
    context: value["context"]?.fields ?? [:], retention: value["retention"]?.text.flatMap(SendOptions.Retention.init),
    responseSchema: value["responseSchema"])
  return (parts ?? said ?? [], options)
}

func duration(_ milliseconds: JSON?) -> Duration { .milliseconds(Int(milliseconds?.number ?? 0)) }

@MainActor
final class Driver {
  private let control: Control
  private let folder: URL
  private var recap: Recap?
  private var chats: [String: Chat] = [:]
  /// What is awaited, as an app does: chats by id, and lists by name.
  private var shown: [String: Task<Void, Never>] = [:]

  init(_ control: Control, _ folder: URL) {
    self.control = control
    self.folder = folder
  }

  /// Ends with the judge.
  func run() async throws {
    while true {
      guard let command = try await control.ask("/next") else { continue }
      Task { await answer(command) }
    }
  }

  private func answer(_ command: JSON) async {
    var outcome: [String: JSON?] = ["id": command["id"]]
    do {
      let result = try await perform(command["name"]?.text ?? "", command["chat"]?.text ?? "", command["value"] ?? .null)
      outcome["result"] = result ?? .null
    } catch {
      outcome["error"] = json(error)
    }
    _ = try? await control.ask("/done", object(outcome))
  }

  private func current() throws -> Recap {
    guard let recap else { throw Failure("there is no client") }
    return recap
  }

  private func store(_ name: JSON?) -> any RecapStore {
    let name = name?.text ?? ""
    return name.hasSuffix("refuses") ? RefusingStore() : FileStore(folder.appendingPathComponent(name))
  }

  private func create(_ given: JSON) async throws {
    await close()
    guard let url = given["baseUrl"]?.text.flatMap({ URL(string: $0) }) else { throw Failure("no address") }
    var timings = Timings()
    timings.silence = duration(given["timings"]?["silenceMs"])
    timings.call = duration(given["timings"]?["callMs"])
    timings.watch = duration(given["timings"]?["watchMs"])
    timings.backOff = given["timings"]?["backOffMs"]?.items.map { duration($0) } ?? []
    let context = given["context"]?.fields ?? [:]
    let appCheck = given["appCheck"]?.text
    recap = Recap(
      baseURL: url, store: store(given["store"]), appCheckToken: appCheck.map { token in { @Sendable in token } },
      tools: (given["tools"]?.fields ?? [:]).mapValues { tool($0) }, clientContext: { context }, timings: timings
    ) { [control] force in
      try await control.ask("/token?force=\(force)")?["token"]?.text ?? ""
    }
  }

  private func close() async {
    for task in shown.values { task.cancel() }
    await recap?.close()
    recap = nil
    chats = [:]
    shown = [:]
  }

  private func chat(_ id: String) throws -> Chat {
    let chat = try chats[id] ?? current().chat(id)
    chats[id] = chat
    return chat
  }

  private func perform(_ name: String, _ id: String, _ value: JSON) async throws -> JSON? {
    switch name {
    case "create": try await create(value)
    case "close": await close()
    case "newChat":
      let chat = try current().chat()
      chats[chat.id] = chat
      return .string(chat.id)
    case "search": return try encoded(try await current().search(value.text ?? ""))
    case "claim":
      let count = try await current().claim(value["guestToken"]?.text ?? "", store(value["guestStore"]))
      return ["conversations": .number(Double(count))]
    case "register":
      let platform = value["platform"]?.text.flatMap(Push.Platform.init) ?? .ios
      try await current().push.register(value["token"]?.text ?? "", platform, locale: value["locale"]?.text)
    case "unregister": try await current().push.unregister()
    case "setActive": try current().setActive(value.bool == true)
    case "openList", "leaveList", "rows", "loadMore": return try await performOnList(name, value.text ?? "")
    default: return try await performOnChat(name, chat(id), value)
    }
    return nil
  }

  private func performOnList(_ name: String, _ listName: String) async throws -> JSON? {
    guard let list = ListName(rawValue: listName).flatMap({ recap?.list($0) }) else { throw Failure("no list") }
    switch name {
    case "openList": shown[listName] = Task { for await _ in list.states {} }
    case "leaveList": shown[listName]?.cancel()
    case "loadMore": try await list.loadMore()
    default: return try json(await list.state)
    }
    return nil
  }

  private func performOnChat(_ name: String, _ chat: Chat, _ value: JSON) async throws -> JSON? {
    let text = value.text ?? ""
    let number = value.number.map { Int($0) }
    switch name {
    case "open":
      let model = ChatModel(chat)
      shown[chat.id] = Task { await model.watch() }
    case "leave": shown[chat.id]?.cancel()
    case "state": return try json(await chat.state)
    case "send":
      let (parts, options) = try input(value)
      return .string(await chat.send(parts, options))
    case "edit":
      let (parts, options) = try input(value)
      return .string(try await chat.edit(value["message"]?.text ?? "", parts, options))
    case "regenerate": return .string(try await chat.regenerate())
    case "retry": try await chat.retry(text)
    case "discard": await chat.discard(text)
    case "stop": try await chat.stop()
    case "loadOlder": return .bool(try await chat.loadOlder(number ?? 30))
    case "loadNewer": return .bool(try await chat.loadNewer(number ?? 30))
    case "loadAround": try await chat.loadAround(number ?? 0)
    case "loadNewest": try await chat.loadNewest()
    case "markRead": await chat.markRead(number)
    case "approve": try await chat.approve(value["call"]?.text ?? "", value["isAllowed"]?.bool == true)
    case "refresh": try await chat.refresh()
    case "rename": try await chat.rename(text)
    case "archive": try await chat.archive(value.bool != false)
    case "pin": try await chat.pin(value.bool != false)
    case "remove": try await chat.remove()
    case "undelete": try await chat.undelete()
    case "deleteMessage": try await chat.deleteMessage(text)
    case "rate": try await chat.rate(value["message"]?.text ?? "", value["rating"] == "down" ? .down : .up)
    default: throw Failure("no command is named \(name)")
    }
    return nil
  }
}

let arguments = CommandLine.arguments
try await Driver(Control(arguments[1]), URL(fileURLWithPath: arguments[2])).run()
