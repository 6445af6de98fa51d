import { ownLines, withoutQuotations } from '../facts/own-words.ts';
import { sentencesOf } from '../facts/sentences.ts';
import { withoutTakenBack } from '../facts/taken-back.ts';
import { oneLine } from './item-text.ts';
import { topicsOf, wordsOf } from './word-overlap.ts';

/** What stands in a turn: in the message of its user, in what user and model say (calls too), and by everybody, tools included. */
export interface TurnTexts {
  user: string;
  talk: string;
  all: string;
}

/** The folded turns as quotes are looked for in them: on one line, each read once. */
export interface TurnEvidence {
  /** The folded turns. */
  seqs: readonly number[];
  has: (seq: number) => boolean;
  /** What the user says himself: without mails, chats and code that he shows, what others said, and what he takes back at once. */
  user: (seq: number) => string;
  /** The same without what his sentences quote. */
  unquoted: (seq: number) => string;
  all: (seq: number) => string;
  /** Of `unquoted`. */
  userSentences: (seq: number) => readonly string[];
  /** Of what user and model say to each other, and of all that is said. */
  talkTopics: (seq: number) => ReadonlySet<string>;
  allTopics: (seq: number) => ReadonlySet<string>;
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
    seqs: [...turns.keys()],
    has: (seq) => turns.has(seq),
    user,
    unquoted,
    all,
    userSentences: once((seq) => sentencesOf(withoutQuotations(own(seq))).map(oneLine)),
    talkTopics: once((seq) => topicsOf(wordsOf(turns.get(seq)?.talk ?? ''))),
    allTopics: once((seq) => topicsOf(wordsOf(all(seq)))),
  };
}
