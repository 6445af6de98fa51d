import { oneLine } from './item-text.ts';
import { wordsOf } from './word-overlap.ts';

/** What was said in a turn: by its user, by user and model to each other, and by everybody, tools included. */
export interface TurnTexts {
  user: string;
  talk: string;
  all: string;
}

/** The folded turns as quotes are looked for in them: on one line, each read once. */
export interface TurnEvidence {
  has: (seq: number) => boolean;
  user: (seq: number) => string;
  all: (seq: number) => string;
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
  const user = once((seq) => oneLine(turns.get(seq)?.user ?? ''));
  const all = once((seq) => oneLine(turns.get(seq)?.all ?? ''));
  return {
    has: (seq) => turns.has(seq),
    user,
    all,
    userWords: once((seq) => wordsOf(user(seq))),
    talkWords: once((seq) => wordsOf(turns.get(seq)?.talk ?? '')),
    allWords: once((seq) => wordsOf(all(seq))),
  };
}
