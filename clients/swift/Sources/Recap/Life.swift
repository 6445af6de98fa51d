import Foundation

/// All state of a client is touched here, one step at a time.
@globalActor public actor RecapActor {
  public static let shared = RecapActor()
}

public struct Timings: Sendable {
  /// A connection without a byte for so long is lost.
  public var silence = Duration.seconds(30)
  /// A call without an answer for so long is lost.
  public var call = Duration.seconds(30)
  /// Pauses between tries; the last one is that of all further ones.
  public var backOff = [1, 2, 4, 8, 16, 30].map { Duration.seconds($0) }
  /// Between looks at a compaction that is on its way.
  public var watch = Duration.seconds(2)

  public init() {}
}

/// Tasks that end together.
@RecapActor
final class Tasks {
  private var running: [UUID: Task<Void, Never>] = [:]
  private(set) var isOver = false

  @discardableResult
  func run(_ work: @escaping @RecapActor () async -> Void) -> Task<Void, Never> {
    let id = UUID()
    let task = Task {
      await work()
      running[id] = nil
    }
    if isOver { task.cancel() } else { running[id] = task }
    return task
  }

  func end() {
    isOver = true
    for task in running.values { task.cancel() }
    running = [:]
  }
}

/// Does one thing after the other, also where who asked for it waits no more.
@RecapActor
final class Line {
  private var last: Task<Void, Never>?

  func run(_ work: @escaping @RecapActor () async throws -> Void) async throws {
    let before = last
    let task = Task {
      await before?.value
      try await work()
    }
    last = Task { _ = await task.result }
    try await task.value
  }
}

/// Whether the app is in front and goes on, and the pauses of all that waits in it.
@RecapActor
final class Life {
  let timings: Timings
  let tasks = Tasks()
  var isActive = true
  private var wakes = 0
  private var interrupts: [UUID: () -> Void] = [:]

  init(_ timings: Timings) { self.timings = timings }

  var isClosed: Bool { tasks.isOver }

  /// What waits is tried at once.
  func wake() {
    wakes += 1
    for interrupt in interrupts.values { interrupt() }
  }

  func close() {
    tasks.end()
    wake()
  }

  /// Ends when the work has ended; the work is cancelled when the app wakes up.
  private func untilWoken<Value: Sendable>(_ work: @escaping @RecapActor () async throws -> Value) async throws -> Value {
    let id = UUID()
    let task = Task { try await work() }
    interrupts[id] = { task.cancel() }
    defer { interrupts[id] = nil }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Waits for the next try after so many failures in a row: as the service asks, else ever longer.
  func pause(after error: RecapError?, failures: Int) async {
    if isClosed || timings.backOff.isEmpty { return }
    // A token that was refused may be taken after a longer pause.
    let place = error?.code == 401 ? timings.backOff.count : min(failures, timings.backOff.count)
    // Spread, so that not all devices come back at once.
    let backOff = timings.backOff[place - 1] * Double.random(in: 0.75...1.25)
    _ = try? await untilWoken { try await Task.sleep(for: error?.retryAfter ?? backOff) }
  }

  /// Tries until it works, or nobody wants it any more. Throws a RecapError that is final.
  func untilDone(_ work: @RecapActor () async throws -> Void) async throws {
    var failures = 0
    while true {
      do { return try await work() } catch {
        let error = RecapError.of(error)
        failures += 1
        if error.isPassing { await pause(after: error, failures: failures) }
        if !error.isPassing || isClosed || Task.isCancelled { throw error }
      }
    }
  }

  /// Reads a stream over as many connections as it takes. One that brought nothing new is followed by a pause.
  /// - Parameters:
  ///   - cursor: where the next connection goes on; another one is progress.
  ///   - onProblem: why a connection has ended.
  ///   - read: reads one connection; returns whether no further one is to be read.
  func keepReading(
    cursor: @RecapActor () -> String?, onProblem: (@RecapActor (RecapError) -> Void)? = nil,
    read: @escaping @RecapActor () async throws -> Bool
  ) async {
    var failures = 0
    while !isClosed && !Task.isCancelled {
      let before = cursor()
      let wakesBefore = wakes
      var problem: RecapError?
      do {
        if try await untilWoken(read) { return }
      } catch {
        problem = RecapError.of(error)
      }
      failures = cursor() == before ? failures + 1 : 0
      // Whoever comes back to the app does not know whether a connection still lives.
      if wakes != wakesBefore || Task.isCancelled { continue }
      if let problem, problem.code != 0 || failures > 1 { onProblem?(problem) }
      if failures > 0 { await pause(after: problem, failures: failures) }
    }
  }
}

/// Tells whoever listens of each new state; of those who are slow, the newest alone.
@RecapActor
final class Topic<State: Sendable> {
  private var listeners: [UUID: AsyncStream<State>.Continuation] = [:]
  /// Those that left before they came.
  private var gone: Set<UUID> = []

  nonisolated init() {}

  var isEmpty: Bool { listeners.isEmpty }

  func tell(_ state: @autoclosure () -> State) {
    if isEmpty { return }
    let state = state()
    for listener in listeners.values { listener.yield(state) }
  }

  /// Nothing follows any more.
  func end() {
    for listener in listeners.values { listener.finish() }
  }

  /// What is shown when somebody comes, and all that follows until they leave.
  nonisolated static func states(
    _ topic: @escaping @RecapActor () -> Topic, enter: @escaping @RecapActor () -> State,
    exit: @escaping @RecapActor () -> Void
  ) -> AsyncStream<State> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { listener in
      let id = UUID()
      listener.onTermination = { _ in
        Task { @RecapActor in if topic().remove(id) { exit() } }
      }
      Task { @RecapActor in
        if topic().gone.remove(id) != nil { return }
        topic().listeners[id] = listener
        listener.yield(enter())
      }
    }
  }

  /// Whether it was there.
  private func remove(_ id: UUID) -> Bool {
    if listeners.removeValue(forKey: id) != nil { return true }
    gone.insert(id)
    return false
  }
}
