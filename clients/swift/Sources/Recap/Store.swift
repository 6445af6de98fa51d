import Foundation

/// Texts under keys, of one user. What a write has returned from is there after the app was killed.
public protocol RecapStore: Sendable {
  func get(_ key: String) async throws -> String?
  func set(_ key: String, _ value: String) async throws
  func delete(_ key: String) async throws
  /// Those that begin with the prefix, in their order.
  func keys(_ prefix: String) async throws -> [String]
}

/// Nothing outlives the process.
public actor MemoryStore: RecapStore {
  private var values: [String: String] = [:]

  public init() {}

  public func get(_ key: String) -> String? { values[key] }
  public func set(_ key: String, _ value: String) { values[key] = value }
  public func delete(_ key: String) { values[key] = nil }
  public func keys(_ prefix: String) -> [String] { values.keys.filter { $0.hasPrefix(prefix) }.sorted() }
}

/// In files of a folder, such as one in Application Support: one folder for each user.
public final class FileStore: RecapStore {
  private let folder: URL
  /// A disk may be slow: tasks of others do not wait for it.
  private let queue = DispatchQueue(label: "dev.recap.store")

  public init(_ folder: URL) { self.folder = folder }

  private func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { done in
      queue.async { done.resume(with: Result(catching: work)) }
    }
  }

  private func path(_ key: String) -> String {
    folder.appendingPathComponent(key.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? key).path
  }

  public func get(_ key: String) async throws -> String? {
    try await run { [path = path(key)] in
      if !FileManager.default.fileExists(atPath: path) { return nil }
      return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }
  }

  public func set(_ key: String, _ value: String) async throws {
    try await run { [folder, path = path(key)] in
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      // A name that no key has: whoever is killed in the middle leaves the value before.
      let written = folder.appendingPathComponent("~\(newId())").path
      let descriptor = open(written, O_WRONLY | O_CREAT | O_EXCL, 0o600)
      if descriptor < 0 { throw CocoaError(.fileWriteUnknown) }
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try handle.write(contentsOf: Data(value.utf8))
      // What the user said outlives a loss of power, too. The rest would only be read, or sent, once more.
      let isSaid = key.hasPrefix(Entry.prefix) || key.hasPrefix(KeptFile.prefix)
      if isSaid && !FileManager.default.fileExists(atPath: path) { try handle.synchronize() }
      try handle.close()
      if rename(written, path) != 0 { throw CocoaError(.fileWriteUnknown) }
    }
  }

  public func delete(_ key: String) async throws {
    try await run { [path = path(key)] in
      if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }
  }

  /// Deletes what an app that was killed did not finish; a younger file may be on its way.
  private static func deleteIfLeft(_ file: URL) {
    let modified = try? file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
    if let modified, modified < Date(timeIntervalSinceNow: -3_600) { try? FileManager.default.removeItem(at: file) }
  }

  public func keys(_ prefix: String) async throws -> [String] {
    try await run { [folder] in
      if !FileManager.default.fileExists(atPath: folder.path) { return [] }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      for name in names where name.hasPrefix("~") { Self.deleteIfLeft(folder.appendingPathComponent(name)) }
      return names.filter { !$0.hasPrefix("~") }.compactMap { $0.removingPercentEncoding }.filter { $0.hasPrefix(prefix) }.sorted()
    }
  }
}

extension RecapStore {
  /// What was kept under a key; nil where there is nothing that can be read.
  func read<Value: Decodable>(_ type: Value.Type, _ key: String) async -> Value? {
    guard let text = try? await get(key) else { return nil }
    return try? JSONDecoder().decode(type, from: Data(text.utf8))
  }

  func write(_ value: any Encodable & Sendable, _ key: String) async throws {
    try await set(key, String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
  }
}

/// Writes what is to be there at the next start, one value after the other; of a key that is saved again meanwhile the newest
/// value alone. A store that refuses costs no message, only that it outlives the app.
@RecapActor
final class Saver {
  typealias ValueOf = @RecapActor () -> (any Encodable & Sendable)?

  private let store: any RecapStore
  private var waiting: [String: ValueOf] = [:]
  private var last: Task<Void, Never>?

  init(_ store: any RecapStore) { self.store = store }

  /// `valueOf` is asked when it is written; nil: nothing is kept.
  @discardableResult
  func save(_ key: String, _ valueOf: @escaping ValueOf) -> Task<Void, Never> {
    waiting[key] = valueOf
    let before = last
    let task = Task {
      await before?.value
      guard let valueOf = waiting.removeValue(forKey: key) else { return }
      if let value = valueOf() { try? await store.write(value, key) } else { try? await store.delete(key) }
    }
    last = task
    return task
  }

  @discardableResult
  func forget(_ key: String) -> Task<Void, Never> { save(key) { nil } }
}
