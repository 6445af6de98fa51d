/// What a tool of the app is told beside its input.
public struct ToolCall: Sendable {
  public let conversationId: String
  public let callId: String
}

/// Runs in the app; what it throws is told to the model.
public typealias Tool = @Sendable (_ input: JSON, _ call: ToolCall) async throws -> JSON

/// Of an error's message, characters: what the API takes.
private let errorMax = 1_000

extension Turn.OpenCall {
  /// What the tool of the app gave; one that throws tells so.
  func run(_ tools: [String: Tool], _ conversationId: String) async -> JSON {
    let id = JSON.string(callId)
    guard let tool = tools[name] else {
      return ["callId": id, "error": .string("This version of the app has no tool \(name).")]
    }
    do {
      return ["callId": id, "output": try await tool(args, ToolCall(conversationId: conversationId, callId: callId))]
    } catch {
      return ["callId": id, "error": .string(String(error.localizedDescription.prefix(errorMax)))]
    }
  }
}
