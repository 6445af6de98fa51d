import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A reply whose head is there.
struct Reply: Sendable {
  let code: Int
  /// By names in small letters.
  let headers: [String: String]
  /// As it comes; throws where the connection breaks, or is silent for too long.
  let body: AsyncThrowingStream<Data, any Error>
  let close: @Sendable () -> Void

  /// The rest of it, at once.
  func data() async throws -> Data {
    var data = Data()
    for try await bytes in body { data += bytes }
    try Task.checkCancellation()
    return data
  }
}

/// Requests over one `URLSession`, whose replies are read as they come: `bytes(for:)` is not on every system.
final class Transport: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private struct Exchange {
    /// Until the head has come.
    var head: CheckedContinuation<Reply, any Error>?
    let reply: AsyncThrowingStream<Data, any Error>
    let body: AsyncThrowingStream<Data, any Error>.Continuation
    let onSent: (@Sendable (Double) -> Void)?
    /// When something came, or was sent.
    var lastHeard = ContinuousClock.now
  }

  private let lock = NSLock()
  private var exchanges: [Int: Exchange] = [:]
  private var session: URLSession!
  @RecapActor private var isClosed = false

  init(_ configuration: URLSessionConfiguration) {
    super.init()
    let own = configuration.copy() as? URLSessionConfiguration ?? configuration
    own.urlCache = nil
    own.httpCookieStorage = nil
    // Streams hold theirs.
    own.httpMaximumConnectionsPerHost = 32
    session = URLSession(configuration: own, delegate: self, delegateQueue: nil)
  }

  /// - Parameters:
  ///   - silence: a connection without a byte for so long is lost.
  ///   - onSent: told which share of the body was sent, 0 to 1.
  @RecapActor
  func send(
    _ request: URLRequest, silence: Duration, onSent: (@Sendable (Double) -> Void)? = nil
  ) async throws -> Reply {
    // A session that is closed takes no tasks.
    if isClosed { throw RecapError.offline }
    var request = request
    // On Linux nothing heeds it, and elsewhere it is not to be shorter.
    request.timeoutInterval = 2 * Double(silence.components.seconds + 1)
    let task = session.dataTask(with: request)
    let (reply, body) = AsyncThrowingStream<Data, any Error>.makeStream()
    // Nobody reads it any more.
    body.onTermination = { if case .cancelled = $0 { task.cancel() } }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { head in
        lock.withLock {
          exchanges[task.taskIdentifier] = Exchange(head: head, reply: reply, body: body, onSent: onSent)
        }
        task.resume()
        endWhenSilent(task, silence)
      }
    } onCancel: {
      task.cancel()
    }
  }

  private func endWhenSilent(_ task: URLSessionDataTask, _ silence: Duration) {
    Task {
      while let lastHeard = lock.withLock({ exchanges[task.taskIdentifier]?.lastHeard }) {
        if lastHeard + silence <= .now { return task.cancel() }
        try await Task.sleep(until: lastHeard + silence, clock: .continuous)
      }
    }
  }

  private func heard(_ task: URLSessionTask) {
    exchanges[task.taskIdentifier]?.lastHeard = .now
  }

  /// Returns when all connections have ended, as they do at once.
  @RecapActor
  func close() async {
    if isClosed { return }
    isClosed = true
    session.invalidateAndCancel()
    let deadline = ContinuousClock.now + .seconds(1)
    while lock.withLock({ !exchanges.isEmpty }) && .now < deadline { try? await Task.sleep(for: .milliseconds(2)) }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    if let response = response as? HTTPURLResponse { take(response, of: dataTask) }
    completionHandler(.allow)
  }

  private func take(_ response: HTTPURLResponse, of task: URLSessionDataTask) {
    let headers = response.allHeaderFields.map { name, value in ("\(name)".lowercased(), "\(value)") }
    lock.withLock {
      guard let exchange = exchanges[task.taskIdentifier] else { return }
      let reply = Reply(
        code: response.statusCode, headers: Dictionary(headers) { first, _ in first }, body: exchange.reply,
        close: { task.cancel() })
      heard(task)
      exchange.head?.resume(returning: reply)
      exchanges[task.taskIdentifier]?.head = nil
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    lock.withLock {
      heard(dataTask)
      _ = exchanges[dataTask.taskIdentifier]?.body.yield(data)
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    guard totalBytesExpectedToSend > 0 else { return }
    let onSent = lock.withLock {
      heard(task)
      return exchanges[task.taskIdentifier]?.onSent
    }
    onSent?(Double(totalBytesSent) / Double(totalBytesExpectedToSend))
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let exchange = lock.withLock { exchanges.removeValue(forKey: task.taskIdentifier) }
    exchange?.body.finish(throwing: error)
    exchange?.head?.resume(throwing: error ?? RecapError.offline)
  }
}
