import Foundation

/// A piece of a message. Texts and files can be sent, also those of a message that is shown.
public enum Part: Hashable, Sendable {
  case text(String)
  case file(FilePart)
  case tool(ToolPart)
  case source(Source)
  case notice(Notice)

  public struct FilePart: Hashable, Sendable, Codable {
    public var mediaType: String?
    public var name: String?
    /// `recap.fileURL(uploadId)` has its address.
    public var uploadId: String?
    public var url: String?
    /// Base64.
    public var data: String?
    /// 0 to 1 while it is uploaded.
    public internal(set) var progress: Double?

    public init(
      mediaType: String? = nil, name: String? = nil, uploadId: String? = nil, url: String? = nil, data: String? = nil
    ) {
      self.mediaType = mediaType
      self.name = name
      self.uploadId = uploadId
      self.url = url
      self.data = data
    }
  }

  public struct ToolPart: Hashable, Sendable, Codable {
    public enum State: String, Sendable, Codable {
      /// `approval` waits for `chat.approve`.
      case running, approval, done, failed
    }
    public let callId: String
    public let name: String
    public let input: JSON
    public internal(set) var state = State.running
    /// Whether the service runs it.
    public let byService: Bool
    public internal(set) var output: JSON?
    public internal(set) var error: String?
  }

  public struct Source: Hashable, Sendable, Codable {
    public let url: String
    public let title: String?
  }

  public struct Notice: Hashable, Sendable, Codable {
    public let kind: String
    public let details: [String: JSON]
  }
}

extension Part: Codable {
  private enum Field: String, CodingKey { case type, text }
  private enum Kind: String, Codable { case text, file, tool, source, notice }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    switch try fields.decode(Kind.self, forKey: .type) {
    case .text: self = .text(try fields.decode(String.self, forKey: .text))
    case .file: self = .file(try FilePart(from: decoder))
    case .tool: self = .tool(try ToolPart(from: decoder))
    case .source: self = .source(try Source(from: decoder))
    case .notice: self = .notice(try Notice(from: decoder))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Field.self)
    func put(_ kind: Kind, _ value: (any Encodable)?) throws {
      try fields.encode(kind, forKey: .type)
      try value?.encode(to: encoder)
    }
    switch self {
    case .text(let text):
      try put(.text, nil)
      try fields.encode(text, forKey: .text)
    case .file(let file): try put(.file, file)
    case .tool(let tool): try put(.tool, tool)
    case .source(let source): try put(.source, source)
    case .notice(let notice): try put(.notice, notice)
    }
  }
}

extension [Part] {
  /// The texts as one.
  var text: String {
    compactMap { if case .text(let text) = $0 { text } else { nil } }.joined(separator: "\n\n")
  }

  /// With what became of a call.
  func withTool(_ callId: String?, _ change: (inout Part.ToolPart) -> Void) -> [Part] {
    map { part in
      guard case .tool(var tool) = part, tool.callId == callId else { return part }
      change(&tool)
      return .tool(tool)
    }
  }
}

public enum Role: String, Sendable, Codable { case user, model }

public enum Rating: String, Sendable, Codable { case up, down }

/// clients/README.md says what each means.
public enum MessageState: String, Sendable, Codable {
  case pending, sent, queued, running, waiting, done, stopped, failed

  var isUnfinished: Bool { self == .queued || self == .running }
}

public struct MessageError: Hashable, Sendable, Codable {
  /// UPPER_SNAKE: docs/reference/errors.md; `OFFLINE` without a connection.
  public let reason: String
  /// To be shown.
  public let message: String
  /// Whether the same message may be tried again.
  public internal(set) var isRetryable: Bool
  /// Of a limit of the day: when it is over.
  public internal(set) var resetTime: Date?
}

/// Why the model does not know of a message.
public struct OutOfContext: Hashable, Sendable, Codable {
  public let reason: String
  public let replacedBy: String?
}

/// One message of the user or of the model.
public struct Message: Identifiable, Hashable, Sendable, Codable {
  /// Of a user's message the id that this device gave it, `m_17` of an answer.
  public let id: String
  public let role: Role
  public let state: MessageState
  public internal(set) var parts: [Part]
  public let time: Date
  /// Its turn; nil until the service has told it.
  public let seq: Int?
  /// Of a `pending` message: why the last try did not get through.
  public internal(set) var error: MessageError?
  public internal(set) var finishReason: String?
  public internal(set) var outOfContext: OutOfContext?
  public internal(set) var isDeleted: Bool?
  public internal(set) var rating: Rating?

  /// Its text parts as one.
  public var text: String { parts.text }
}

/// How full the context is.
public struct ContextState: Hashable, Sendable, Codable {
  public struct Compaction: Hashable, Sendable, Codable {
    public let state: String
    public let jobId: String?
    public let beforeTokens, afterTokens: Int?
    /// To be shown.
    public let message: String?
  }

  /// What the model does not see; `message` is to be shown.
  public struct LeftOut: Hashable, Sendable, Codable {
    public let turns, from, upTo: Int
    public let remedy, message: String
  }

  public let tokens: Int
  public let thresholdTokens: Int?
  public let windowTokens: Int
  public let percent: Double
  public let source: String
  public let generation: Int
  public let compaction: Compaction?
  public let leftOut: LeftOut?
}

/// A conversation as it is shown: never changed, but followed by a new one.
public struct ChatState: Hashable, Sendable {
  /// Of the current branch, the oldest first.
  public internal(set) var messages: [Message] = []
  /// All, those too that were replaced.
  public internal(set) var transcript: [Message] = []
  public internal(set) var title: String?
  public internal(set) var context: ContextState?
  public internal(set) var hasOlder = false
  /// Behind the last one, after `loadAround`.
  public internal(set) var hasNewer = false
  /// Whether it was read since it is shown.
  public internal(set) var isLoaded = false
  /// Whether an answer is on its way.
  public internal(set) var isAnswering = false
  /// Why it cannot be read.
  public internal(set) var problem: RecapError?

  public init() {}
}

/// A row of the list.
public struct Row: Identifiable, Hashable, Sendable, Codable {
  public struct LastMessage: Hashable, Sendable, Codable {
    public let seq: Int
    public let role: Role
    public let time: Date
    public let preview: String?
    public var deleted: Bool?
  }

  public let id: String
  public internal(set) var title: String?
  public internal(set) var metadata: [String: String] = [:]
  public internal(set) var archived = false
  public internal(set) var pinned = false
  /// `idle`, `running`, `waiting` or `failed`.
  public internal(set) var state = "idle"
  public internal(set) var lastMessage: LastMessage?
  public internal(set) var lastSeq = 0
  public internal(set) var readSeq = 0
  public internal(set) var unreadCount = 0
  public internal(set) var createTime: Date?
  public internal(set) var activeTime: Date
  public internal(set) var deleteTime: Date?
  public internal(set) var purgeTime: Date?
  /// Messages that are not sent yet.
  public internal(set) var pendingCount = 0

  private enum CodingKeys: String, CodingKey {
    case id, title, metadata, archived, pinned, state, lastMessage, lastSeq, readSeq, unreadCount
    case createTime, activeTime, deleteTime, purgeTime
  }
}

public enum ListName: String, Sendable, CaseIterable { case active, archived, deleted }

/// Rows of one list: the pinned ones, then the newest.
public struct ListState: Hashable, Sendable {
  public internal(set) var rows: [Row] = []
  public internal(set) var hasMore = false
  public internal(set) var isLoaded = false
  public internal(set) var problem: RecapError?

  public init() {}
}

public struct SearchResult: Hashable, Sendable, Codable {
  public struct Hit: Hashable, Sendable, Codable {
    public let conversationId: String
    public let seq: Int
    public let role: Role
    public let messageId: String
    public let at: String
    public let snippet: String
    public let score: Double
    public let title: String?
    public let replaced: Bool?
  }

  public struct Title: Hashable, Sendable, Codable {
    public let conversationId, title: String
  }

  /// One that was not searched.
  public struct Unreached: Hashable, Sendable, Codable {
    public let conversationId: String
    public let title: String?
    public let turns: Int?
  }

  public let hits: [Hit]
  public let titles: [Title]
  public let searched: Int
  public let unreached: [Unreached]
  public let nextPageToken: String?
}
