import 'answers.dart';
import 'json.dart';
import 'model.dart';
import 'outbox.dart';
import 'wire.dart';

/// What the user said, and its answer, as the service has them.
typedef StoredTurn = ({StoredMessage? user, StoredMessage? answer});

/// Turns by their numbers, in their order. Never changed.
final class Turns._(final Map<int, StoredTurn> _turns) {
  /// The turns that messages belong to.
  factory Turns.of(Iterable<StoredMessage> messages) {
    final turns = <int, StoredTurn>{};
    for (final message in messages) {
      final (:user, :answer) = turns[message.seq] ?? (user: null, answer: null);
      turns[message.seq] = message.role == Role.user ? (user: message, answer: answer) : (user: user, answer: message);
    }
    return Turns._(turns);
  }

  static final none = Turns._(const {});
  bool get isEmpty => _turns.isEmpty;
  int get length => _turns.length;
  bool has(int seq) => _turns.containsKey(seq);
  StoredTurn? operator [](int seq) => _turns[seq];
  late final List<int> seqs = _turns.keys.toList()..sort();

  /// 0: there is none.
  int get first => seqs.firstOrNull ?? 0;
  int get last => seqs.lastOrNull ?? 0;

  List<StoredMessage> get messages => [
    for (final seq in seqs) ...[?this[seq]?.user, ?this[seq]?.answer],
  ];

  List<int> _in(Set<String> states) => [
    for (final seq in seqs)
      if (states.contains((this[seq]?.user ?? this[seq]?.answer)?.state)) seq,
  ];

  Turns _only(Iterable<int> seqs) => Turns._({for (final seq in seqs) seq: _turns[seq]!});

  /// Turns that are being answered, or wait to be.
  List<int> get running => _in({'queued', 'running'});
  List<int> get waiting => _in({'awaiting_tool'});

  /// Turns that may be other when they are read again.
  List<int> get open => _in({'queued', 'running', 'awaiting_tool'});

  Turns operator +(Turns newer) => Turns._({..._turns, ...newer._turns});

  /// Without a gap: what lies beyond one is read again.
  Turns joined(Turns read) {
    if (read.isEmpty) return this;
    return read.first <= last + 1 && first <= read.last + 1 ? this + read : read;
  }

  Turns newest(int count) => length > count ? _only(seqs.skip(length - count)) : this;
  Turns oldest(int count) => length > count ? _only(seqs.take(count)) : this;

  /// Without an answer at the beginning whose question is not known.
  Turns get whole => this[first]?.user == null ? _only(seqs.skip(1)) : this;
}

/// All that a chat shows is made of.
final class Transcript(
  final Turns _turns,
  final Map<int, LiveAnswer> _live,
  final List<Entry> _entries,
  final double? Function(String id, int index) _progressOf,
) {
  /// All messages, the oldest first.
  late final List<Message> all = [
    for (final seq in _seqs) ..._turn(seq),
    for (final entry in _entries)
      if (entry.seq == null) _entry(entry),
  ];

  /// Those of the current branch.
  late final List<Message> current = [
    for (final message in all)
      if (message.outOfContext?.reason != 'replaced' && !_isReplaced(message.seq)) message,
  ];

  late final _taken = {
    for (final entry in _entries)
      if (entry.seq case final seq? when seq >= _turns.first) seq: entry,
  };

  List<int> get _seqs => _taken.isEmpty ? _turns.seqs : ({..._turns.seqs, ..._taken.keys}.toList()..sort());

  bool _isReplaced(int? seq) => seq != null && _replacements.any((each) => each.from <= seq && seq < each.by);

  List<Message> _turn(int seq) {
    final user = _turns[seq]?.user;
    final entry = _taken[seq];
    // It is sent once more.
    if (entry != null && entry.state != EntryState.taken) return [_entry(entry)];
    final asked = user != null ? toMessage(user) : (entry == null ? null : _entry(entry));
    return asked == null ? const [] : [asked, _answer(seq, asked.time)];
  }

  /// The answer of a turn: as it is streamed, else as it is stored, else that there is one.
  Message _answer(int seq, DateTime time) {
    if (_live[seq] case final live?) return live.shown(seq, time);
    if (_turns[seq]?.answer case final answer?) return toMessage(answer);
    final user = _turns[seq]?.user;
    if (user == null) return const LiveAnswer(MessageState.running).shown(seq, time);
    final none = {...user.json, 'id': 'm_$seq', 'role': Role.model.name, 'parts': const <Json>[]};
    return toMessage(StoredMessage(none));
  }

  Message _entry(Entry entry) => Message(
    id: entry.id,
    role: Role.user,
    state: switch (entry.state) {
      EntryState.pending => MessageState.pending,
      EntryState.taken => MessageState.sent,
      EntryState.failed => MessageState.failed,
    },
    parts: [
      for (final part in entry.parts) ?partOf(part),
      for (final (index, file) in entry.files.indexed)
        ?partOf({'type': 'file', ...file}, progress: _progressOf(entry.id, index)),
    ],
    time: DateTime.parse(entry.time),
    seq: entry.seq,
    error: entry.error,
  );

  /// From a turn that replaces others: the first of these, and itself.
  late final List<({int from, int by})> _replacements = [
    for (final seq in _turns.seqs)
      if (_turns[seq]?.user?.replaces case final from?) (from: from, by: seq),
    for (final entry in _entries)
      if (entry.replaces case final from? when entry.state != EntryState.failed)
        (from: from, by: entry.seq ?? _unknownSeq),
  ];
}

// Behind all turns.
const _unknownSeq = 1 << 40;
