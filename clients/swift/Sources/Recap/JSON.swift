import Foundation

/// Any JSON: what a tool is called with, and what it gives.
public enum JSON: Hashable, Sendable, Codable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let array = try? value.decode([JSON].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
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

  /// A field of an object.
  public subscript(_ field: String) -> JSON? {
    if case .object(let fields) = self { fields[field] } else { nil }
  }

  public var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  public var number: Double? {
    if case .number(let number) = self { number } else { nil }
  }

  public var bool: Bool? {
    if case .bool(let bool) = self { bool } else { nil }
  }

  public var items: [JSON] {
    if case .array(let items) = self { items } else { [] }
  }

  public var fields: [String: JSON] {
    if case .object(let fields) = self { fields } else { [:] }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral text: String) { self = .string(text) }
  public init(booleanLiteral bool: Bool) { self = .bool(bool) }
  public init(floatLiteral number: Double) { self = .number(number) }
  public init(integerLiteral number: Int) { self = .number(Double(number)) }
  public init(arrayLiteral items: JSON...) { self = .array(items) }
  public init(dictionaryLiteral fields: (String, JSON)...) {
    self = .object(Dictionary(fields) { _, last in last })
  }
}

extension JSON {
  /// An object without the fields that are nil.
  static func present(_ fields: [String: JSON?]) -> JSON { .object(fields.compactMapValues { $0 }) }

  static func number(_ number: Int) -> JSON { .number(Double(number)) }

  /// The same bytes for the same value, in every process.
  func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }
}

extension JSON {
  /// nil: it is of a later version of the service.
  func decoded<Value: Decodable>(_ type: Value.Type) -> Value? {
    try? WireTime.decoder.decode(type, from: encoded())
  }
}

/// Times of the service: ISO 8601, with and without milliseconds.
enum WireTime {
  static func parse(_ text: String) -> Date? {
    (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
      ?? (try? Date(text, strategy: .iso8601))
  }

  static let decoder = {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { from in
      let value = try from.singleValueContainer()
      if let date = parse(try value.decode(String.self)) { return date }
      throw DecodingError.dataCorruptedError(in: value, debugDescription: "not a time")
    }
    return decoder
  }()
}
