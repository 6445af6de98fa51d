import type { Fact, FactKind } from './fact.ts';

/**
 * How much is lost without a fact of a kind, said once. Heuristic: what cannot be guessed or worked out
 * again weighs most.
 */
const base: Readonly<Record<FactKind, number>> = {
  instruction: 8,
  identifier: 5,
  email: 5,
  phone: 5,
  amount: 4,
  date: 4,
  link: 4,
  path: 3,
  time: 3,
  quantity: 3,
  name: 2,
  number: 2,
  quoted: 2,
  term: 1,
};

/** Turns beyond which saying a fact again makes it no more important. */
export const COUNTED_TURNS = 5;

/** What is asked for once: it is done, or asked for again. */
const REQUEST_WEIGHT = 2;

/** The weight of a fact said in so many turns: one more quarter for each, up to twice. */
export function factWeight({ kind, tier }: Pick<Fact, 'kind' | 'tier'>, turns: number): number {
  const once = kind === 'instruction' && tier > 1 ? REQUEST_WEIGHT : base[kind];
  return once * (0.75 + 0.25 * Math.min(turns, COUNTED_TURNS));
}

/** For which facts there is room first when one utterance holds too many. */
export const baseWeight = (kind: FactKind): number => base[kind];
