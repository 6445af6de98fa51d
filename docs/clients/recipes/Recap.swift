import Foundation

/// An event of the stream; pass over types that you do not know.
struct Chunk: Decodable, Sendable {
  struct Metadata: Decodable, Sendable { var turnId: String? }
  struct Compaction: Decodable, Sendable { var state: String; var message: String? }
  /// Of `data-notice`, of `data-title`, and the context object: how full the context is.
  struct Payload: Decodable, Sendable {
    var dropParts: [String]?
    var title: String?
    var tokens, thresholdTokens, generation: Int?
    var percent: Double?
    var compaction: Compaction?
  }
  var type: String
  var id, delta, errorText, finishReason: String?
  var messageMetadata: Metadata?
  var toolCallId, toolName: String?
  var providerExecuted: Bool?
  var input: JSONValue?
  var data: Payload?
}

/// Any JSON: what a function is called with, and what it gives.
enum JSONValue: Codable, Sendable {
  case null, bool(Bool), number(Double), string(String), array([JSONValue]), object([String: JSONValue])

  init(from decoder: Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() { self = .null; return }
    if let bool = try? value.decode(Bool.self) { self = .bool(bool); return }
    if let number = try? value.decode(Double.self) { self = .number(number); return }
    if let string = try? value.decode(String.self) { self = .string(string); return }
    if let array = try? value.decode([JSONValue].self) { self = .array(array); return }
    self = .object(try value.decode([String: JSONValue].self))
  }

  func encode(to encoder: Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .number(let number): try value.encode(number)
    case .string(let string): try value.encode(string)
    case .array(let array): try value.encode(array)
    case .object(let object): try value.encode(object)
    }
  }
}

/// A function of the app that the model calls.
struct ToolCall: Sendable { var id, name: String; var input: JSONValue }

/// What it gave, or in `error` why it gave nothing.
struct ToolResult: Encodable, Sendable { var callId: String; var output: JSONValue?; var error: String? }

/// An answer while it grows: parts in the order in which they came.
struct Answer: Sendable {
  private var parts: [(id: String, text: String)] = []
  var turnId, finishReason, errorText, title: String?
  /// Somebody stopped the answer: its text is not whole.
  var isStopped = false
  var context: Chunk.Payload?
  /// Calls that wait for `giveResults`, once `finishReason` is "tool-calls".
  private(set) var calls: [ToolCall] = []
  var text: String { parts.map(\.text).joined() }

  mutating func take(_ chunk: Chunk) {
    switch chunk.type {
    case "start": turnId = chunk.messageMetadata?.turnId; finishReason = nil; errorText = nil; isStopped = false
    case "data-notice": parts.removeAll { chunk.data?.dropParts?.contains($0.id) == true }
    case "text-start":
      parts.removeAll { $0.id == chunk.id }
      parts.append((id: chunk.id ?? "", text: ""))
    case "text-delta":
      if let last = parts.lastIndex(where: { $0.id == chunk.id }) { parts[last].text += chunk.delta ?? "" }
    case "tool-input-available" where chunk.providerExecuted != true: // else a function of the server
      drop(chunk)
      calls.append(ToolCall(id: chunk.toolCallId ?? "", name: chunk.toolName ?? "", input: chunk.input ?? .null))
    case "tool-output-available", "tool-output-error": drop(chunk)
    case "data-title": title = chunk.data?.title
    case "data-context": context = chunk.data
    case "abort": isStopped = true
    case "error": errorText = chunk.errorText
    case "finish": finishReason = chunk.finishReason
    default: break
    }
  }

  private mutating func drop(_ chunk: Chunk) { calls.removeAll { $0.id == chunk.toolCallId } }
}

/// The body of every refusal (AIP-193): decide by `reason`, show `message`.
struct RecapError: LocalizedError, Decodable {
  struct Status: Decodable, Sendable { var code: Int; var status, message: String; var details: [Detail] }
  struct Detail: Decodable, Sendable { var reason: String?; var metadata: [String: String]? }
  var error: Status
  var retryAfterSeconds: Double?
  /// Nothing to wait for, such as a quota that is back tomorrow: tell the user.
  var isFinal: Bool?
  var reason: String? { error.details.first?.reason }
  var errorDescription: String? { error.message }
}

/// Store it before the first try, with both ids, and delete it when the answer is there.
struct OutgoingMessage: Codable, Sendable {
  var conversationId: UUID
  var messageId = UUID()
  var text: String
  var files: [Part]?
  /// While another message is being answered: "queue" or "interrupt"; by itself this one is refused.
  var onBusy: String?
}

/// Of a message: a text, an uploaded file, or a small one whole (`mediaType` and `data`, in base64).
struct Part: Codable, Sendable {
  var type: String
  var text, uploadId, mediaType, data: String?
}

struct Conversation: Decodable, Sendable { var id: String; var title: String? }

struct LastMessage: Decodable, Sendable { var seq: Int; var role: String; var preview: String? }

/// A row of the list. `state`: "idle", "running", "waiting" (for the app) or "failed".
struct ConversationRow: Decodable, Sendable {
  var id, state, activeTime: String
  var title: String?
  var lastMessage: LastMessage?
  var unreadCount: Int
}

/// Go on with `nextPageToken`, while there is one.
struct ConversationPage: Decodable, Sendable { var conversations: [ConversationRow]; var nextPageToken: String? }

/// `role`: "user" or "model". `inContext`: false where another message took its place.
struct StoredMessage: Decodable, Sendable {
  var id, turnId: String
  var seq: Int
  var role: String
  var parts: [Part]
  var state: String
  var inContext: Bool
}

struct MessagePage: Decodable, Sendable { var messages: [StoredMessage]; var nextPageToken: String? }

struct Recap: Sendable {
  var baseURL: URL
  /// `true`: a new one, because the service took the last one for expired.
  var idToken: @Sendable (_ renew: Bool) async throws -> String
  /// Where the service demands one.
  var appCheckToken: (@Sendable () async throws -> String)?

  /// The answer after each event. Ending the loop stops reading, not the answer.
  func send(_ message: OutgoingMessage) -> AsyncThrowingStream<Answer, Error> { send(message, to: "/messages") }

  /// Says something else in place of the user's message `replaced`; that and all after it leave the context.
  func edit(_ replaced: String, with message: OutgoingMessage) -> AsyncThrowingStream<Answer, Error> {
    send(message, to: "/messages/\(replaced):edit")
  }

  /// Answers the last message anew, named by its id. `id`: drawn before the first try.
  func regenerate(_ messageId: String, in conversation: UUID, id: UUID) -> AsyncThrowingStream<Answer, Error> {
    let path = "/messages/\(messageId):regenerate", body = Regenerating(id: id.uuidString.lowercased())
    return answers(Asking(conversation: conversation, path: path, body: body), from: Answer())
  }

  private func send(_ message: OutgoingMessage, to path: String) -> AsyncThrowingStream<Answer, Error> {
    let parts = [Part(type: "text", text: message.text)] + (message.files ?? [])
    let sent = Sending.Message(id: message.messageId.uuidString.lowercased(), parts: parts)
    let sending = Sending(message: sent, onBusy: message.onBusy)
    return answers(Asking(conversation: message.conversationId, path: path, body: sending), from: Answer())
  }

  /// Gives what the app's functions returned, to all of `answer.calls`; the answer goes on.
  func giveResults(
    _ results: [ToolResult], to answer: Answer, in conversation: UUID
  ) -> AsyncThrowingStream<Answer, Error> {
    let path = "/turns/\(answer.turnId ?? "")/toolResults"
    return answers(Asking(conversation: conversation, path: path, body: ["results": results]), from: answer)
  }

  /// What is sent in each try: the same.
  private struct Asking: Sendable {
    var conversation: UUID
    var path: String
    var body: any Encodable & Sendable
  }

  /// What the model is told of the moment: date and time of the user come from it.
  private struct ClientContext: Encodable, Sendable {
    var timeZone = TimeZone.current.identifier
    var locale = Locale.current.identifier(.bcp47)
  }

  private struct Sending: Encodable, Sendable {
    struct Message: Encodable, Sendable { var id: String; var parts: [Part] }
    var message: Message
    var onBusy: String?
    var clientContext = ClientContext()
  }

  private struct Regenerating: Encodable, Sendable {
    var id: String
    var clientContext = ClientContext()
  }

  private struct Upload: Decodable, Sendable { var uploadId: String; var url: URL; var method: String; var headers: [String: String] }

  private func answers(_ asking: Asking, from answer: Answer) -> AsyncThrowingStream<Answer, Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task {
        do {
          try await follow(asking, from: answer) { continuation.yield($0) }
          continuation.finish()
        } catch { continuation.finish(throwing: error) }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// Any other call, such as `("POST", "/turns/t_1:cancel")`, on a conversation or on none; the JSON that it answers.
  func call(
    _ method: String, _ path: String, in conversation: UUID? = nil, body: (any Encodable & Sendable)? = nil
  ) async throws -> Data {
    let sent = try body.map { try JSONEncoder().encode($0) }
    return try await withToken { renew in
      var request = try await makeRequest(method, path, conversation, renew)
      if sent != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
      request.httpBody = sent
      return try await load(request)
    }
  }

  /// Does it once more with a new ID token where the last one has expired.
  private func withToken<Reply>(_ work: (_ renew: Bool) async throws -> Reply) async throws -> Reply {
    do { return try await work(false) } catch let refused as RecapError where refused.reason == "ID_TOKEN_EXPIRED" {
      return try await work(true)
    }
  }

  /// The newest first.
  func listConversations(pageToken: String? = nil) async throws -> ConversationPage {
    try JSONDecoder().decode(ConversationPage.self, from: await call("GET", "/conversations" + pageQuery(pageToken)))
  }

  /// The oldest first, replaced ones too.
  func listMessages(in conversation: UUID, pageToken: String? = nil) async throws -> MessagePage {
    let page = try await call("GET", "/messages" + pageQuery(pageToken), in: conversation)
    return try JSONDecoder().decode(MessagePage.self, from: page)
  }

  func rename(_ conversation: UUID, to title: String) async throws {
    _ = try await call("PATCH", "", in: conversation, body: ["title": title])
  }

  /// Of an answer (`m_1`): "up" or "down"; again, it takes the place of what was said before.
  func rate(_ messageId: String, _ rating: String, in conversation: UUID) async throws {
    _ = try await call("PUT", "/messages/\(messageId)/feedback", in: conversation, body: ["rating": rating])
  }

  /// Up to 20 MB; a part to keep with the message.
  func upload(_ bytes: Data, mimeType: String) async throws -> Part {
    let about: [String: JSONValue] = ["mimeType": .string(mimeType), "sizeBytes": .number(Double(bytes.count))]
    let upload = try JSONDecoder().decode(Upload.self, from: await call("POST", "/uploads", body: about))
    var request = URLRequest(url: upload.url)
    request.httpMethod = upload.method
    for (header, value) in upload.headers { request.setValue(value, forHTTPHeaderField: header) }
    request.httpBody = bytes
    do { _ = try await load(request) } catch let refused as RecapError where refused.error.code == 412 {
      // An earlier try has brought the file.
    }
    return Part(type: "file", uploadId: upload.uploadId)
  }

  private func pageQuery(_ token: String?) -> String {
    guard let token else { return "" }
    return "?pageToken=" + (token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? token)
  }

  private func load(_ request: URLRequest) async throws -> Data {
    let (data, response) = try await URLSession.shared.data(for: request)
    if let http = response as? HTTPURLResponse, http.statusCode >= 400 { throw refusal(http, data) }
    return data
  }

  private func follow(_ asking: Asking, from known: Answer, show: (Answer) -> Void) async throws {
    var answer = known, cursor: String?, failures = 0
    while true {
      let before = cursor
      do {
        return try await withToken { renew in try await read(asking, &answer, &cursor, renew, show) }
      } catch {
        if cursor != before { failures = 0 }
        guard failures < 8, let seconds = waitSeconds(error, failures) else { throw error }
        failures += 1
        try await Task.sleep(for: .seconds(seconds))
      }
    }
  }

  /// nil: the same again would give the same.
  private func waitSeconds(_ error: Error, _ failures: Int) -> Double? {
    let backOff = min(30, pow(2, Double(failures)))
    if let refused = error as? RecapError {
      let helps = [429, 502, 503, 504].contains(refused.error.code) && refused.isFinal != true
      return helps ? refused.retryAfterSeconds ?? backOff : nil
    }
    return error is URLError && !Task.isCancelled ? backOff : nil
  }

  private func read(
    _ asking: Asking, _ answer: inout Answer, _ cursor: inout String?, _ renew: Bool, _ show: (Answer) -> Void
  ) async throws {
    var request = try await makeRequest("POST", asking.path, asking.conversation, renew)
    request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.setValue(cursor, forHTTPHeaderField: "Last-Event-ID")
    request.httpBody = try JSONEncoder().encode(asking.body)
    let (bytes, response) = try await URLSession.shared.bytes(for: request)
    if let http = response as? HTTPURLResponse, http.statusCode != 200 {
      let refused = try await bytes.reduce(into: Data()) { $0.append($1) }
      throw refusal(http, refused)
    }
    var id: String?
    for try await line in bytes.lines { // leaves out empty lines; every event has one line of data
      if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
      guard line.hasPrefix("data: ") else { continue }
      if line == "data: [DONE]" { return }
      if let chunk = try? JSONDecoder().decode(Chunk.self, from: Data(line.utf8.dropFirst(6))) {
        answer.take(chunk)
        show(answer)
      }
      cursor = id ?? cursor
    }
    throw URLError(.networkConnectionLost) // an end without [DONE] is a break
  }

  private func makeRequest(
    _ method: String, _ path: String, _ conversation: UUID?, _ renew: Bool
  ) async throws -> URLRequest {
    let root = conversation.map { "v1/conversations/\($0.uuidString.lowercased())" } ?? "v1"
    guard let url = URL(string: root + path, relativeTo: baseURL) else { throw URLError(.badURL) }
    var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 30)
    request.httpMethod = method
    let token = try await idToken(renew), appToken = try await appCheckToken?()
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    request.setValue(appToken, forHTTPHeaderField: "X-Firebase-AppCheck")
    return request
  }

  /// What is no answer of the API, a page of a proxy in between, becomes one with its HTTP code.
  private func refusal(_ http: HTTPURLResponse, _ body: Data) -> RecapError {
    let unknown = RecapError.Status(code: http.statusCode, status: "UNKNOWN", message: "HTTP \(http.statusCode)", details: [])
    var error = (try? JSONDecoder().decode(RecapError.self, from: body)) ?? RecapError(error: unknown)
    error.isFinal = http.value(forHTTPHeaderField: "x-should-retry") == "false"
    error.retryAfterSeconds = http.value(forHTTPHeaderField: "Retry-After").flatMap { Double($0) }
    return error
  }
}
