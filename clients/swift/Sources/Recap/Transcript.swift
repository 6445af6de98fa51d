import Foundation

/// A stored message, and what is shown of it.
struct Stored: Sendable {
  let stored: StoredMessage
  let message: Message

  init(_ stored: StoredMessage) {
    self.stored = stored
    message = Message(stored)
  }
}

/// What the user said, and its answer, as the service has them.
struct StoredTurn: Sendable {
  var user: Stored?
  var answer: Stored?

  var state: String { (user ?? answer)?.stored.state ?? "done" }
}

/// Turns without a gap, by their numbers.
struct Turns: Sendable {
  private(set) var bySeq: [Int: StoredTurn] = [:]

  init() {}

  /// The turns that messages belong to.
  init(_ messages: [StoredMessage]) {
    for message in messages {
      if message.role == .user {
        bySeq[message.seq, default: StoredTurn()].user = Stored(message)
      } else {
        bySeq[message.seq, default: StoredTurn()].answer = Stored(message)
      }
    }
  }

  subscript(seq: Int) -> StoredTurn? { bySeq[seq] }

  var isEmpty: Bool { bySeq.isEmpty }
  var seqs: [Int] { bySeq.keys.sorted() }
  /// 0: there is none.
  var first: Int { bySeq.keys.min() ?? 0 }
  var last: Int { bySeq.keys.max() ?? 0 }
  var messages: [StoredMessage] {
    seqs.flatMap { [bySeq[$0]?.user?.stored, bySeq[$0]?.answer?.stored].compactMap { $0 } }
  }

  func seqs(in states: String...) -> [Int] { seqs.filter { states.contains(bySeq[$0]?.state ?? "") } }

  /// Turns that are being answered, or wait to be.
  var running: [Int] { seqs(in: "queued", "running") }
  var waiting: [Int] { seqs(in: "awaiting_tool") }
  /// Turns that may be other when they are read again.
  var open: [Int] { seqs(in: "queued", "running", "awaiting_tool") }

  /// With others that were read just now.
  func merging(_ read: Turns) -> Turns {
    var turns = self
    turns.bySeq.merge(read.bySeq) { _, new in new }
    return turns
  }

  /// The turns that are known, and those that were read if they follow on each other: what lies beyond a gap is read again.
  func extended(by read: Turns) -> Turns {
    if read.isEmpty { return self }
    let touches = read.first <= last + 1 && first <= read.last + 1
    return touches ? merging(read) : read
  }

  func keeping(_ isKept: (Int, StoredTurn) -> Bool) -> Turns {
    var turns = self
    turns.bySeq = bySeq.filter(isKept)
    return turns
  }

  enum End { case oldest, newest }

  /// Without the turns that are more than `max`, at the end that is named.
  func bounded(_ max: Int, dropping end: End) -> Turns {
    if bySeq.count <= max { return self }
    let kept = Set(end == .oldest ? seqs.suffix(max) : seqs.prefix(max))
    return keeping { seq, _ in kept.contains(seq) }
  }
}

/// All that the messages of a chat are made of.
struct Transcript {
  let turns: Turns
  let live: [Int: LiveAnswer]
  let entries: [Entry]
  let progress: (_ entryId: String, _ file: Int) -> Double?

  /// All messages, the oldest first, and those of the current branch.
  func shown() -> (transcript: [Message], messages: [Message]) {
    let taken = entries.compactMap(\.seq).filter { $0 >= turns.first }
    let seqs = Set(turns.seqs + taken).sorted()
    let waiting = entries.filter { $0.seq == nil }.map(message)
    let transcript = seqs.flatMap(messages) + waiting
    let replaced = replacements
    let isReplaced = { (message: Message) in
      let seq = message.seq ?? .max
      return message.outOfContext?.reason == "replaced" || replaced.contains { $0.from <= seq && seq < $0.by }
    }
    return (
      transcript, replaced.isEmpty && !transcript.contains(where: isReplaced) ? transcript : transcript.filter { !isReplaced($0) }
    )
  }

  private func messages(_ seq: Int) -> [Message] {
    let entry = entries.first { $0.seq == seq }
    // It is sent once more.
    if let entry, entry.state != .taken { return [message(entry)] }
    guard let asked = turns[seq]?.user?.message ?? entry.map(message) else { return [] }
    return [asked, answer(seq, asked.time)]
  }

  private func message(_ entry: Entry) -> Message {
    let files = entry.files.indices.map { index in
      let file = entry.files[index]
      var part = Part.FilePart(mediaType: file.mediaType, name: file.name, uploadId: file.uploadId)
      part.progress = progress(entry.id, index)
      return Part.file(part)
    }
    let state: MessageState =
      switch entry.state {
      case .pending: .pending
      case .taken: .sent
      case .failed: .failed
      }
    return Message(
      id: entry.id, role: .user, state: state, parts: entry.parts + files, time: entry.time, seq: entry.seq,
      error: entry.error)
  }

  /// The answer of a turn: as it is streamed, else as it is stored, else that there is one.
  private func answer(_ seq: Int, _ time: Date) -> Message {
    if let live = live[seq] { return live.message(seq, time) }
    if let answer = turns[seq]?.answer { return answer.message }
    guard var none = turns[seq]?.user?.stored else { return LiveAnswer(.running).message(seq, time) }
    none.id = "m_\(seq)"
    none.role = .model
    none.parts = []
    return Message(none)
  }

  /// Of each turn that replaces others: the first of these, and itself.
  private var replacements: [(from: Int, by: Int)] {
    let stored = turns.bySeq.compactMap { seq, turn in turn.user?.stored.replaces.map { (from: $0, by: seq) } }
    let sent = entries.filter { $0.state != .failed }
    return stored + sent.compactMap { entry in entry.replaces.map { (from: $0, by: entry.seq ?? .max) } }
  }
}
