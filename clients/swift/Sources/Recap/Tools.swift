/// What a tool of the app is told beside its input.
public struct ToolCall: Sendable {
  public let conversationId: String
  public let callId: String
}

/// Runs in the app; what it throws is told to the model.
public typealias Tool = @Sendable (_ input: JSON, _ call: ToolCall) async throws -> JSON

/// Of an error's message, characters: what the API takes.
private let errorMax = 1_000

/// What the tools of the app gave, in the order of the calls.
func runTools(_ tools: [String: Tool], _ conversationId: String, _ calls: [OpenCall]) async -> [JSON] {
  await withTaskGroup(of: (Int, JSON).self) { running in
    for (index, call) in calls.enumerated() { running.addTask { (index, await call.run(tools, conversationId)) } }
    var results = [JSON](repeating: .null, count: calls.count)
    for await (index, result) in running { results[index] = result }
    return results
  }
}

extension OpenCall {
  /// One that throws tells so.
  fileprivate func run(_ tools: [String: Tool], _ conversationId: String) async -> JSON {
    let id = JSON.string(callId)
    guard let tool = tools[name] else {
      return ["callId": id, "error": .string("This version of the app has no tool \(name).")]
    }
    do {
      return ["callId": id, "output": try await tool(args, ToolCall(conversationId: conversationId, callId: callId))]
    } catch {
      let message = String(error.localizedDescription.prefix(errorMax))
      return ["callId": id, "error": .string(message.isEmpty ? "The tool failed." : message)]
    }
  }
}
