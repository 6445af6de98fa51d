import type { Message } from '../api.ts';
import type { StoredMessage } from '../wire/wire.ts';
import type { Entry } from './outbox.ts';
import { type LiveAnswer, liveMessage, newAnswer, textOf, toMessage } from './messages.ts';

/** What the user said, and its answer, as the service has them. */
export interface StoredTurn {
  seq: number;
  user?: StoredMessage;
  answer?: StoredMessage;
}

export type Turns = ReadonlyMap<number, StoredTurn>;

/** The turns that messages belong to. */
export function toTurns(messages: readonly StoredMessage[]): Turns {
  const turns = new Map<number, StoredTurn>();
  for (const message of messages) {
    const { seq, role } = message;
    turns.set(seq, { ...turns.get(seq), seq, [role === 'user' ? 'user' : 'answer']: message });
  }
  return turns;
}

const seqsOf = (turns: Turns): number[] => [...turns.keys()].sort((one, other) => one - other);

/** 0: there is none. */
export const firstSeq = (turns: Turns): number => seqsOf(turns)[0] ?? 0;
export const lastSeq = (turns: Turns): number => Math.max(0, ...turns.keys());

export const messagesOf = (turns: Turns): StoredMessage[] =>
  seqsOf(turns).flatMap((seq) => {
    const { user, answer } = turns.get(seq) ?? {};
    return [user ?? [], answer ?? []].flat();
  });

const stateOf = ({ user, answer }: StoredTurn): StoredMessage['state'] =>
  (user ?? answer)?.state ?? 'done';

const seqsIn = (turns: Turns, states: readonly string[]): number[] =>
  seqsOf(turns).filter((seq) => states.includes(stateOf(turns.get(seq) ?? { seq })));

/** Turns that are being answered, or wait to be. */
export const runningSeqs = (turns: Turns): number[] => seqsIn(turns, ['queued', 'running']);
export const waitingSeqs = (turns: Turns): number[] => seqsIn(turns, ['awaiting_tool']);

/** Turns that may be other when they are read again. */
export const openSeqs = (turns: Turns): number[] =>
  seqsIn(turns, ['queued', 'running', 'awaiting_tool']);

/** Turns from `first` to `last` that are known, without a gap: what lies beyond one is read again. */
export function withTurns(known: Turns, read: Turns): Turns {
  if (read.size === 0) return known;
  const touches = firstSeq(read) <= lastSeq(known) + 1 && firstSeq(known) <= lastSeq(read) + 1;
  return new Map(touches ? [...known, ...read] : read);
}

/** Without the turns that are more than `max`, at the side that is named. */
export function bounded(turns: Turns, max: number, dropped: 'oldest' | 'newest'): Turns {
  const seqs = seqsOf(turns);
  const kept = dropped === 'oldest' ? seqs.slice(-max) : seqs.slice(0, max);
  return turns.size <= max
    ? turns
    : new Map(kept.flatMap((seq) => [[seq, turns.get(seq) ?? { seq }] as const]));
}

/** All that a chat shows is made of. */
export interface Shown {
  turns: Turns;
  live: ReadonlyMap<number, LiveAnswer>;
  entries: readonly Entry[];
  progressOf: (id: string, index: number) => number | undefined;
}

const known = new WeakMap<StoredMessage, Message>();

/** The same object for the same message: what is shown changes only where something is new. */
function messageOf(stored: StoredMessage): Message {
  const message = known.get(stored) ?? toMessage(stored);
  known.set(stored, message);
  return message;
}

function entryMessage(entry: Entry, progressOf: Shown['progressOf']): Message {
  const { id, parts, files, time, state, seq, error } = entry;
  const fileParts = files.map(({ key: _key, ...file }, index) => {
    return { type: 'file', ...file, progress: progressOf(id, index) } as const;
  });
  const shown = [...parts, ...fileParts];
  return {
    id,
    role: 'user',
    state: state === 'taken' ? 'sent' : state,
    parts: shown,
    text: textOf(shown),
    time,
    seq,
    error,
  };
}

/** The answer of a turn: as it is streamed, else as it is stored, else that there is one. */
function answerMessage(shown: Shown, seq: number, time: string): Message {
  const live = shown.live.get(seq);
  if (live) return liveMessage(seq, live, time);
  const { user, answer } = shown.turns.get(seq) ?? {};
  if (answer) return messageOf(answer);
  if (!user) return liveMessage(seq, newAnswer('running'), time);
  return toMessage({ ...user, id: `m_${seq}`, role: 'model', parts: [] });
}

function turnMessages(shown: Shown, seq: number): Message[] {
  const { user } = shown.turns.get(seq) ?? {};
  const entry = shown.entries.find((each) => each.seq === seq);
  // It is sent once more.
  if (entry && entry.state !== 'taken') return [entryMessage(entry, shown.progressOf)];
  const asked = user ? messageOf(user) : entry && entryMessage(entry, shown.progressOf);
  return asked ? [asked, answerMessage(shown, seq, asked.time)] : [];
}

/** From a turn that replaces others: the first of these, and itself. */
function replacements({ turns, entries }: Shown): { from: number; by: number }[] {
  const stored = [...turns.values()].flatMap(({ seq, user }) =>
    user?.replaces === undefined ? [] : [{ from: user.replaces, by: seq }],
  );
  const sent = entries.flatMap(({ state, replaces, seq = Infinity }) =>
    replaces === undefined || state === 'failed' ? [] : [{ from: replaces, by: seq }],
  );
  return [...stored, ...sent];
}

/** All messages, the oldest first, and those of the current branch. */
export function showMessages(shown: Shown): { transcript: Message[]; messages: Message[] } {
  const { turns, entries, progressOf } = shown;
  const first = firstSeq(turns);
  const taken = entries.flatMap(({ seq = -1 }) => (seq >= first ? [seq] : []));
  const seqs = [...new Set([...turns.keys(), ...taken])];
  const waiting = entries.filter(({ seq }) => seq === undefined);
  const transcript = [
    ...seqs.sort((one, other) => one - other).flatMap((seq) => turnMessages(shown, seq)),
    ...waiting.map((entry) => entryMessage(entry, progressOf)),
  ];
  const replaced = replacements(shown);
  const isReplaced = ({ seq = Infinity, outOfContext }: Message): boolean =>
    outOfContext?.reason === 'replaced' || replaced.some(({ from, by }) => from <= seq && seq < by);
  return { transcript, messages: transcript.filter((message) => !isReplaced(message)) };
}
