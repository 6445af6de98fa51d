/** What the search tells apart: a turn of the tail, or a statement of the snapshot. */
export interface Unit {
  /** The turns that leave the context with it: the turn itself, or those that the statement comes from. */
  seqs: readonly number[];
}

/** Units that one search looks for: each costs as many calls as the context can be halved. */
const UNITS_FOUND_MAX = 4;

type SearchResult =
  /** The prompt is not blocked without the newest message. */
  | { kind: 'clear' }
  /** It is blocked for what stands in every prompt: instruction, tools, memory, pins. */
  | { kind: 'always' }
  /** Turns that must leave; none where no unit is blocked by itself. */
  | { kind: 'found'; seqs: number[] };

/** A unit that is blocked by itself, of units that are blocked together. */
async function findOne<U>(
  units: readonly U[],
  isBlocked: (units: readonly U[]) => Promise<boolean>,
): Promise<U | undefined> {
  let [first, end] = [0, units.length];
  while (end - first > 1) {
    const middle = Math.floor((first + end) / 2);
    if (await isBlocked(units.slice(first, middle))) end = middle;
    else first = middle;
  }
  const unit = units[first];
  return unit !== undefined && (await isBlocked([unit])) ? unit : undefined;
}

/**
 * Finds by halves what of a context a filter blocks: each call has half of the units of the one before, so a search for
 * one of them sends about twice the context. At most `UNITS_FOUND_MAX` units; nothing is found that is not blocked by itself.
 */
export async function findBlocked<U extends Unit>(
  all: readonly U[],
  isBlocked: (units: readonly U[]) => Promise<boolean>,
): Promise<SearchResult> {
  if (!(await isBlocked(all))) return { kind: 'clear' };
  if (await isBlocked([])) return { kind: 'always' };
  const seqs = new Set<number>();
  let units = all;
  for (let tries = 0; tries < UNITS_FOUND_MAX; tries++) {
    const blocked = await findOne(units, isBlocked);
    if (!blocked) break;
    for (const seq of blocked.seqs) seqs.add(seq);
    units = units.filter((unit) => !unit.seqs.some((seq) => seqs.has(seq)));
    if (!(await isBlocked(units))) break;
  }
  return { kind: 'found', seqs: [...seqs].toSorted((a, b) => a - b) };
}
