import type { Speaker } from '#shared/conversation/utterances.ts';

export type FactKind =
  | 'link'
  | 'email'
  | 'phone'
  | 'path'
  | 'identifier'
  | 'date'
  | 'time'
  /** Money. */
  | 'amount'
  /** A number with a unit. */
  | 'quantity'
  | 'number'
  | 'quoted'
  | 'name'
  /** A word that says more than others, in scripts without capitals. */
  | 'term'
  /** What the user wants always, never, at least or at most. */
  | 'instruction';

/** 1: said by the user, and lost if nobody keeps it; 2: said by user or model; 3: from tools: left to search. */
export type FactTier = 1 | 2 | 3;

/** Something in the text of turns that can be looked for elsewhere. */
export interface Fact {
  kind: FactKind;
  /** Equal for equal facts of a kind, however they are written. */
  key: string;
  /** As first written. */
  text: string;
  tier: FactTier;
  /** How much is lost without it; rises with how often it was said. */
  weight: number;
  speaker: Speaker;
  /** The turns that say it, ascending: of more than six the first five and the newest. */
  seqs: readonly number[];
  /** The sentence that first says it, whole and readable. */
  sentence: string;
  /** The sentence stands in words of somebody else that the user shows: a mail, a quoted line, code. */
  isShown?: boolean;
}

/** Equal for equal facts. */
export const factId = ({ kind, key }: Pick<Fact, 'kind' | 'key'>): string => `${kind} ${key}`;
