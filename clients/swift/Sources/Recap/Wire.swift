import Foundation

/* What goes over the wire, as docs/reference/api.md has it. Later versions of the service may have more. */

/// A part of a stored message: `text`, `file`, `functionCall` or `functionResponse`.
struct StoredPart: Codable, Sendable {
  var type: String
  var text, mediaType, data, url, uploadId, name, callId: String?
  var args, response: JSON?
  var providerExecuted: Bool?
}

/// A call that an answer waits for.
struct OpenCall: Codable, Sendable {
  let callId, name: String
  let args: JSON
  /// `output`, or `approved`.
  let wants: String
}

struct StoredMessage: Codable, Sendable {
  struct Feedback: Codable, Sendable { let rating: Rating }

  struct Failure: Codable, Sendable {
    let reason, message: String
    let retryable: Bool
  }

  var id: String
  let seq: Int
  var role: Role
  var parts: [StoredPart]
  /// `queued`, `running`, `awaiting_tool`, `done`, `failed` or `cancelled`.
  let state: String
  let createTime: Date
  let finishReason: String?
  let outOfContext: OutOfContext?
  let replaces: Int?
  let sources: [Part.Source]?
  let deleted: Bool?
  let feedback: Feedback?
  /// Of an answer that waits: what for.
  let openCalls: [OpenCall]?
  /// Of a turn that failed: why.
  let error: Failure?
}

struct MessagesPage: Decodable { let messages: [StoredMessage] }

/// An event of an answer; which fields it has depends on its type.
struct StreamChunk: Decodable, Sendable {
  struct Metadata: Decodable, Sendable { let shrunken: JSON? }

  let type: String
  let id, delta, toolCallId, toolName, errorText, sourceId, url, title, finishReason: String?
  let input, output, data: JSON?
  let providerExecuted: Bool?
  let messageMetadata: Metadata?
}

/// An event of the list: `conversation`, `gone`, `ready`, `reset`, `reconnect`.
struct UserEvent: Decodable, Sendable {
  struct Erased: Decodable, Sendable {
    let count: Int
    let seqs: [Int]
  }

  let type: String
  let conversation: Row?
  let erased: Erased?
  let conversationId: String?
}

struct ConversationsPage: Decodable {
  let conversations: [Row]
  let nextPageToken: String?
}

/// Of a conversation, what a chat shows.
struct About: Decodable, Sendable {
  let title: String?
  let context: ContextState?
}
