import fc from 'fast-check';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { hostileJson } from './hostile-json.ts';
import { journeyWith } from './journey.ts';
import { hostileWorld } from './world.ts';

/** How many values are drawn for one conversation; it takes some more than once. */
const DRAWN = 300;

interface ValueSearch {
  /** How many values the service is given, at least. */
  values: number;
  seed: number;
  /** Default: in memory. */
  store?: DocumentStore;
  /** After how many problems it ends. */
  problemsMax?: number;
}

export interface ValueSearchResult {
  values: number;
  conversations: number;
  /** How many compactions came to what. */
  outcomes: Map<string, number>;
  /** What was answered with a 5xx, or could not be used any more, with the seed of its values. */
  problems: string[];
}

/** Gives the service random values wherever something is stored. Equal seeds draw equal values. */
export async function searchValues(search: ValueSearch): Promise<ValueSearchResult> {
  const { values: wanted, seed, store, problemsMax = 5 } = search;
  const result: ValueSearchResult = {
    values: 0,
    conversations: 0,
    outcomes: new Map(),
    problems: [],
  };
  const batch = fc.array(hostileJson, { minLength: DRAWN, maxLength: DRAWN });
  while (result.values < wanted && result.problems.length < problemsMax) {
    const drawn = seed + result.conversations;
    const [values = []] = fc.sample(batch, { seed: drawn, numRuns: 1 });
    const lived = await journeyWith(hostileWorld(store), values);
    const { problems, values: given, outcomes } = lived;
    for (const outcome of outcomes)
      result.outcomes.set(outcome, (result.outcomes.get(outcome) ?? 0) + 1);
    result.values += given;
    result.conversations += 1;
    result.problems.push(...problems.map((problem) => `seed ${drawn}: ${problem}`));
  }
  return result;
}
