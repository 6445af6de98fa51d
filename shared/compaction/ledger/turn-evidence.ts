import { ownLines, withoutQuotations } from '../facts/own-words.ts';
import { withoutTakenBack } from '../facts/taken-back.ts';
import { oneLine } from './item-text.ts';
import { wordsOf } from './word-overlap.ts';

/** What stands in a turn: in the message of its user, in what user and model to each other, and by everybody, tools included. */
export interface TurnTexts {
  user: string;
  talk: string;
  all: string;
}

/** The folded turns as quotes are looked for in them: on one line, each read once. */
export interface TurnEvidence {
  has: (seq: number) => boolean;
  /** What the user says himself: without mails, chats and code that he shows, what others said, and what he takes back at once. */
  user: (seq: number) => string;
  /** The same without what his sentences quote. */
  unquoted: (seq: number) => string;
  all: (seq: number) => string;
  /** Of `unquoted`. */
  userWords: (seq: number) => ReadonlySet<string>;
  talkWords: (seq: number) => ReadonlySet<string>;
  allWords: (seq: number) => ReadonlySet<string>;
}

function once<Value>(read: (seq: number) => Value): (seq: number) => Value {
  const known = new Map<number, Value>();
  return (seq) => {
    const value = known.get(seq) ?? read(seq);
    known.set(seq, value);
    return value;
  };
}

/** Turns that are not in `turns` have said nothing. */
export function evidenceOf(turns: ReadonlyMap<number, TurnTexts>): TurnEvidence {
  const own = once((seq) => withoutTakenBack(ownLines(turns.get(seq)?.user ?? '')));
  const user = once((seq) => oneLine(own(seq)));
  const unquoted = once((seq) => oneLine(withoutQuotations(own(seq))));
  const all = once((seq) => oneLine(turns.get(seq)?.all ?? ''));
  return {
    has: (seq) => turns.has(seq),
    user,
    unquoted,
    all,
    userWords: once((seq) => wordsOf(unquoted(seq))),
    talkWords: once((seq) => wordsOf(turns.get(seq)?.talk ?? '')),
    allWords: once((seq) => wordsOf(all(seq))),
  };
}
