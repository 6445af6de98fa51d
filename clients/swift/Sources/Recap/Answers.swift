import Foundation

/* Stored messages and streamed answers, as they are shown. */

private let answerStates: [String: MessageState] = [
  "queued": .queued, "running": .running, "awaiting_tool": .waiting, "done": .done, "failed": .failed,
  "cancelled": .stopped,
]

/// A part of a stored message, among those before it.
private func add(_ part: StoredPart, to parts: [Part]) -> [Part] {
  switch part.type {
  case "text": return parts + [.text(part.text ?? "")]
  case "file":
    let file = Part.FilePart(
      mediaType: part.mediaType, name: part.name, uploadId: part.uploadId, url: part.url, data: part.data)
    return parts + [.file(file)]
  case "functionCall":
    let tool = Part.ToolPart(
      callId: part.callId ?? "", name: part.name ?? "", input: part.args ?? [:], byService: part.providerExecuted == true)
    return parts + [.tool(tool)]
  case "functionResponse":
    // One that failed told the model why.
    let fields = part.response?.fields ?? [:]
    let error = fields.count == 1 ? fields["error"]?.text : nil
    return parts.withTool(part.callId) {
      $0.state = error == nil ? .done : .failed
      $0.output = error == nil ? part.response : nil
      $0.error = error
    }
  // A later version of the service may have more.
  default: return parts
  }
}

extension Message {
  init(_ stored: StoredMessage) {
    id = stored.id
    role = stored.role
    state = stored.role == .user ? .sent : answerStates[stored.state] ?? .done
    let asked = (stored.openCalls ?? []).filter { $0.wants == "approved" }
    let known = asked.reduce(stored.parts.reduce([]) { add($1, to: $0) }) { parts, call in
      parts.withTool(call.callId) { $0.state = .approval }
    }
    parts = known + (stored.sources ?? []).map(Part.source)
    time = stored.createTime
    seq = stored.seq
    finishReason = stored.finishReason
    outOfContext = stored.outOfContext
    isDeleted = stored.deleted
    rating = stored.feedback?.rating
    if role == .model, let error = stored.error {
      self.error = MessageError(reason: error.reason, message: error.message, isRetryable: error.retryable)
    }
  }
}

/// An answer as its stream tells of it.
struct LiveAnswer: Codable, Sendable {
  var state: MessageState
  private(set) var parts: [Part] = []
  /// Of each part, as the stream gave it.
  private var partIds: [String] = []
  /// The last event that was read: where to go on.
  var lastEventId: String?
  private(set) var finishReason: String?
  private(set) var error: MessageError?

  init(_ state: MessageState) { self.state = state }

  func message(_ seq: Int, _ time: Date) -> Message {
    Message(
      id: "m_\(seq)", role: .model, state: state, parts: parts, time: time, seq: seq, error: error,
      finishReason: finishReason)
  }

  /// One more event of its stream.
  mutating func take(_ chunk: StreamChunk) {
    switch chunk.type {
    case "start":
      state = .running
      if let shrunken = chunk.messageMetadata?.shrunken {
        put("shrunken", .notice(Part.Notice(kind: "shrunken", details: shrunken.fields)))
      }
    case "text-start", "text-delta": append(chunk.delta ?? "", to: chunk.id ?? "")
    case "tool-input-available":
      let callId = chunk.toolCallId ?? ""
      let tool = Part.ToolPart(
        callId: callId, name: chunk.toolName ?? "", input: chunk.input ?? [:], byService: chunk.providerExecuted == true)
      put(callId, .tool(tool))
    case "tool-output-available":
      parts = parts.withTool(chunk.toolCallId) {
        $0.state = .done
        $0.output = chunk.output
      }
    case "tool-output-error":
      parts = parts.withTool(chunk.toolCallId) {
        $0.state = .failed
        $0.error = chunk.errorText
      }
    case "source-url":
      put(chunk.sourceId ?? "", .source(Part.Source(url: chunk.url ?? "", title: chunk.title)))
    case "data-notice": takeNotice(chunk.id ?? "", chunk.data?.fields ?? [:])
    case "error":
      error = MessageError(reason: "ANSWER_FAILED", message: chunk.errorText ?? "", isRetryable: true)
    case "abort": state = .stopped
    case "finish":
      finishReason = chunk.finishReason
      if finishReason == "tool-calls" {
        state = .waiting
      } else if state != .stopped {
        state = finishReason == "error" ? .failed : .done
      }
    // Also those of later versions of the service.
    default: break
    }
  }

  private mutating func put(_ id: String, _ part: Part) {
    if let index = partIds.firstIndex(of: id) {
      parts[index] = part
    } else {
      parts.append(part)
      partIds.append(id)
    }
  }

  private mutating func append(_ delta: String, to id: String) {
    if let index = partIds.firstIndex(of: id), case .text(let known) = parts[index] {
      parts[index] = .text(known + delta)
    } else {
      put(id, .text(delta))
    }
  }

  private mutating func takeNotice(_ id: String, _ data: [String: JSON]) {
    let kind = data["kind"]?.text ?? ""
    if kind == "approval" {
      parts = parts.withTool(data["callId"]?.text) { $0.state = .approval }
      return
    }
    for dropped in data["dropParts"]?.items.compactMap(\.text) ?? [] where kind == "restarted" {
      guard let index = partIds.firstIndex(of: dropped) else { continue }
      parts.remove(at: index)
      partIds.remove(at: index)
    }
    put(id, .notice(Part.Notice(kind: kind, details: data.filter { $0.key != "kind" })))
  }
}
