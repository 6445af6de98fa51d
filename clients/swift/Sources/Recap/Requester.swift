import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Of a request; what is nil is left out.
public typealias Query = [String: String?]

struct ServerEvent: Sendable {
  var id: String?
  var data: String
}

/// Takes the bytes of an event stream in any pieces, and gives its events. Comments are passed over.
struct EventReader {
  private var line = Data()
  private var id: String?
  private var data: [String] = []

  mutating func take(_ bytes: Data) -> [ServerEvent] {
    var events: [ServerEvent] = []
    for byte in bytes {
      if byte != UInt8(ascii: "\n") {
        line.append(byte)
        continue
      }
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if !line.isEmpty {
        takeField()
      } else {
        if !data.isEmpty { events.append(ServerEvent(id: id, data: data.joined(separator: "\n"))) }
        id = nil
        data = []
      }
      line.removeAll(keepingCapacity: true)
    }
    return events
  }

  private mutating func takeField() {
    let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
    var value = line[colon...].dropFirst()
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    switch String(decoding: line[..<colon], as: UTF8.self) {
    case "data": data.append(String(decoding: value, as: UTF8.self))
    case "id": id = String(decoding: value, as: UTF8.self)
    default: break
    }
  }
}

/// An event stream whose head has come. Whoever does not read it closes it.
struct EventStream: Sendable {
  /// 200, or 204: there is nothing to be read.
  let code: Int
  /// Its turn, such as 17; nil where it is of none.
  let seq: Int?
  fileprivate let reply: Reply

  func close() { reply.close() }

  /// Hands over its events up to `[DONE]`, or to an end in good order without it: then it returns false.
  @RecapActor
  func read(_ take: @RecapActor (ServerEvent) async throws -> Void) async throws -> Bool {
    var reader = EventReader()
    do {
      for try await bytes in reply.body {
        for event in reader.take(bytes) {
          if event.data == "[DONE]" {
            // It ends by itself. What holds the connection open behind the end is not waited for.
            Task { for try await _ in reply.body {} }
            return true
          }
          try await take(event)
        }
      }
    } catch {
      close()
      throw error
    }
    return false
  }
}

/// What the service says of an upload that begins.
struct UploadBegun: Decodable {
  let uploadId: String
  let url: URL
  let method: String
  let headers: [String: String]
}

/// What the app gives may never come.
private func inTime(
  _ limit: Duration, _ work: @escaping @Sendable () async throws -> String
) async throws -> String {
  let (values, outcome) = AsyncThrowingStream<String, any Error>.makeStream()
  let working = Task {
    do { outcome.yield(try await work()) } catch { outcome.finish(throwing: error) }
  }
  let timer = Task {
    try await Task.sleep(for: limit)
    outcome.finish()
  }
  defer {
    working.cancel()
    timer.cancel()
  }
  for try await value in values { return value }
  throw RecapError.offline
}

/// The user that a JSON Web Token is of; nil for anything else.
private func userOf(_ token: String) -> String? {
  let parts = token.split(separator: ".")
  guard parts.count > 1 else { return nil }
  let base64 = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
  let padded = base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)
  return Data(base64Encoded: padded).flatMap { try? JSONDecoder().decode(JSON.self, from: $0) }?["sub"]?.text
}

/// Calls of the API with the user's token; one that the service takes for expired is renewed once. All throw RecapError.
@RecapActor
final class Requester {
  /// Whose the store is.
  private static let userKey = "user"

  private let options: RecapOptions
  private let transport: Transport
  /// The store is not that of the user who is signed in.
  var onOtherUser: (RecapError) -> Void = { _ in }
  /// The clock of the service, before this device's.
  private var clockOffset: TimeInterval = 0
  private var user: String?

  init(_ options: RecapOptions, _ transport: Transport) {
    self.options = options
    self.transport = transport
  }

  var now: Date { Date(timeIntervalSinceNow: clockOffset) }

  func call(_ method: String, _ path: String, query: Query = [:], body: JSON? = nil) async throws -> JSON {
    let data = try await data(method, path, query: query, body: body)
    return data.isEmpty ? .null : try decode(JSON.self, data)
  }

  func read<Value: Decodable>(
    _ path: String, query: Query = [:], method: String = "GET", body: JSON? = nil
  ) async throws -> Value {
    try decode(Value.self, try await data(method, path, query: query, body: body))
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    do { return try WireTime.decoder.decode(type, from: data) } catch {
      throw RecapError(0, "OFFLINE", "The reply is not one of the service.")
    }
  }

  private func data(_ method: String, _ path: String, query: Query, body: JSON?) async throws -> Data {
    let body = try body?.encoded()
    let reply = try await send(method, path, query, body, "application/json", options.timings.call)
    do { return try await reply.data() } catch { throw RecapError.of(error) }
  }

  /// - Parameter body: the same bytes in every try.
  func stream(_ method: String, _ path: String, query: Query = [:], body: Data? = nil) async throws -> EventStream {
    let reply = try await send(method, path, query, body, "text/event-stream", options.timings.silence)
    let turnId = reply.headers["x-turn-id"]
    return EventStream(code: reply.code, seq: turnId.flatMap { Int($0.dropFirst("t_".count)) }, reply: reply)
  }

  /// Sends a file to the address that the service gave.
  func put(
    _ bytes: Data, to upload: UploadBegun, onSent: @escaping @Sendable (Double) -> Void
  ) async throws {
    var request = URLRequest(url: upload.url)
    request.httpMethod = upload.method
    request.httpBody = bytes
    for (name, value) in upload.headers { request.setValue(value, forHTTPHeaderField: name) }
    do {
      let reply = try await transport.send(request, silence: options.timings.silence * 10, onSent: onSent)
      let text = try await reply.data()
      // 412: an earlier try has brought the file.
      if reply.code >= 400 && reply.code != 412 {
        throw RecapError(code: reply.code, body: text) { reply.headers[$0] }
      }
    } catch {
      throw RecapError.of(error)
    }
  }

  private func send(
    _ method: String, _ path: String, _ query: Query, _ body: Data?, _ accept: String, _ silence: Duration
  ) async throws -> Reply {
    func attempt(force: Bool) async throws -> Reply {
      var request = URLRequest(url: url(path, query))
      request.httpMethod = method
      request.httpBody = body
      request.setValue(accept, forHTTPHeaderField: "accept")
      if body != nil { request.setValue("application/json", forHTTPHeaderField: "content-type") }
      try await authorize(&request, force)
      let reply = try await transport.send(request, silence: silence)
      setClock(reply)
      return reply
    }
    do {
      var reply = try await attempt(force: false)
      if reply.code == 401 {
        reply.close()
        reply = try await attempt(force: true)
      }
      if reply.code < 400 { return reply }
      let headers = reply.headers
      throw RecapError(code: reply.code, body: try await reply.data()) { headers[$0] }
    } catch {
      throw RecapError.of(error)
    }
  }

  private func authorize(_ request: inout URLRequest, _ force: Bool) async throws {
    let idToken = options.idToken
    let token = try await inTime(options.timings.call) { try await idToken(force) }
    try await checkUser(token)
    request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
    if let appCheckToken = options.appCheckToken {
      let token = try await inTime(options.timings.call, appCheckToken)
      request.setValue(token, forHTTPHeaderField: "x-firebase-appcheck")
    }
  }

  /// Nothing of one user is sent as another.
  private func checkUser(_ token: String) async throws {
    guard let asking = userOf(token), asking != user else { return }
    if user == nil {
      let kept = await options.store.read(String.self, Self.userKey)
      user = user ?? kept
    }
    if user == nil {
      user = asking
      // A store that refuses costs no message.
      try? await options.store.write(asking, Self.userKey)
    }
    if user == asking { return }
    let message = "The store of this client belongs to another user. Give each user a store."
    let error = RecapError(401, "STORE_OF_OTHER_USER", message)
    onOtherUser(error)
    throw error
  }

  private func url(_ path: String, _ query: Query) -> URL {
    var text = options.baseURL.absoluteString
    if text.hasSuffix("/") { text.removeLast() }
    let pairs = query.compactMap { name, value in
      value.map { "\(name)=\($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
    }
    return URL(string: text + path + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))) ?? options.baseURL
  }

  private func setClock(_ reply: Reply) {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    if let date = reply.headers["date"].flatMap(format.date) { clockOffset = date.timeIntervalSinceNow }
  }
}
