import { oneLine } from './item-text.ts';
import { wordsOf } from './word-overlap.ts';

/** What was said in a turn: by its user, and by everybody, tools included. */
export interface TurnTexts {
  user: string;
  all: string;
}

/** The folded turns as quotes are looked for in them: on one line, each read once. */
export interface TurnEvidence {
  has: (seq: number) => boolean;
  user: (seq: number) => string;
  all: (seq: number) => string;
  userWords: (seq: number) => ReadonlySet<string>;
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
  return {
    has: (seq) => turns.has(seq),
    user,
    all: once((seq) => oneLine(turns.get(seq)?.all ?? '')),
    userWords: once((seq) => wordsOf(user(seq))),
  };
}
