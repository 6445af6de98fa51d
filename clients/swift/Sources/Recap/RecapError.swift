import Foundation

/// Codes after which the same request may go through.
private let passingCodes = [0, 401, 408, 500, 502, 503, 504]

/// Why a call has no answer: decide by `reason`, show `message`.
public struct RecapError: Error, LocalizedError, Hashable, Sendable {
  /// HTTP code; 0: no connection.
  public let code: Int
  /// UPPER_SNAKE: docs/reference/errors.md; `OFFLINE` without a connection.
  public let reason: String
  /// To be shown.
  public let message: String
  /// How long the service asks to be left alone.
  public let retryAfter: Duration?
  /// Of a limit of the day: when it is over.
  public let resetTime: Date?
  /// Whether the same may go through after a pause of seconds.
  public let isPassing: Bool

  init(
    _ code: Int, _ reason: String, _ message: String, retryAfter: Duration? = nil, resetTime: Date? = nil,
    isFinal: Bool = false
  ) {
    self.code = code
    self.reason = reason
    self.message = message
    self.retryAfter = retryAfter
    self.resetTime = resetTime
    isPassing = passingCodes.contains(code) || (code == 429 && !isFinal)
  }

  public var errorDescription: String? { message }

  static let offline = RecapError(0, "OFFLINE", "No connection.")

  /// What is not an answer of the service is a connection that broke.
  static func of(_ error: any Error) -> RecapError { error as? RecapError ?? .offline }

  /// The error that a reply tells of, whoever wrote it.
  init(code: Int, body: Data, header: (String) -> String?) {
    // A proxy in between answers in HTML.
    let error = (try? JSONDecoder().decode(JSON.self, from: body))?["error"]
    let details = error?["details"]?.items ?? []
    func detail(_ field: String) -> JSON? { details.lazy.compactMap { $0[field] }.first }
    let metadata = detail("metadata")
    let wait = header("retry-after") ?? detail("retryDelay")?.text.map { $0.replacing("s", with: "") }
    self.init(
      code,
      detail("reason")?.text ?? "HTTP_\(code)",
      error?["message"]?.text ?? "HTTP \(code)",
      retryAfter: wait.flatMap(Double.init).map { .seconds($0) },
      resetTime: metadata?["resetTime"]?.text.flatMap(WireTime.parse),
      isFinal: header("x-should-retry") == "false" || metadata?["final"]?.text == "true")
  }
}
