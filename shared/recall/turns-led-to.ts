import type { Item } from '../conversation/documents/snapshot.ts';
import type { SearchQuery } from '../search/search-query.ts';
import { lookUp } from './look-up.ts';
import { segmentOfPassages, type Segment } from './segment.ts';

/** Share of what a message asks for, weighed by how rare it is, that a statement must have to lead to its turns. */
const STATEMENT_FIT_MIN = 0.5;
const STATEMENTS_MAX = 20;

/** Statements that are looked up as passages are; `seq` of a passage is the place of its statement, from 1. */
export interface Statements {
  segment: Segment;
  sources: readonly (readonly number[])[];
}

/** Makes statements findable. */
export function findableStatements(items: readonly Pick<Item, 'text' | 'sources'>[]): Statements {
  const passages = items.map(({ text }, i) => ({
    seq: i + 1,
    role: 'model' as const,
    at: new Date(0),
    text,
  }));
  return { segment: segmentOfPassages(passages), sources: items.map(({ sources }) => sources) };
}

/**
 * The turns that statements about the same thing come from, with how well the best of these fits (0.5 to about 1.5): a
 * statement may have words of the question that its turns lack.
 */
export function turnsLedTo(
  { segment, sources }: Statements,
  query: SearchQuery,
): ReadonlyMap<number, number> {
  const fits = new Map<number, number>();
  const segments = [{ segment, throughSeq: Infinity }];
  for (const { passage, fit } of lookUp({ segments, query, limit: STATEMENTS_MAX }).candidates) {
    if (fit < STATEMENT_FIT_MIN) break;
    for (const seq of sources[passage.seq - 1] ?? [])
      fits.set(seq, Math.max(fits.get(seq) ?? 0, fit));
  }
  return fits;
}
