import type { Head } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { readHistories } from './read-histories.ts';

/** Generations of one read. */
const PAGE = 20;

interface Of {
  conversationId: string;
  head: Head;
}

/**
 * The newest history that covers no turn after `throughSeq`, or undefined. It is never one whose turns have
 * changed since: that change made a newer one that ends before them. Its masks may be of later turns.
 */
export async function newestHistoryThrough(
  dependencies: Pick<ChatDependencies, 'store'>,
  of: Of,
  throughSeq: number,
): Promise<History | undefined> {
  for (let newest = of.head.generation; newest > 0; newest -= PAGE) {
    const generations = Array.from({ length: Math.min(PAGE, newest) }, (_, i) => newest - i);
    const histories = await readHistories(dependencies, of, generations);
    const found = histories.find(
      ({ erased, coveredThrough }) => erased !== true && coveredThrough.seq <= throughSeq,
    );
    if (found) return found;
  }
  return undefined;
}

/**
 * The first turn that changed after `generation` was made, or undefined. A history that covers it tells
 * what does not stand any more.
 */
export async function firstChangeSince(
  dependencies: Pick<ChatDependencies, 'store'>,
  of: Of,
  generation: number,
): Promise<number | undefined> {
  let first = Infinity;
  for (let next = generation + 1; next <= of.head.changedIn; next += PAGE) {
    const length = Math.min(PAGE, of.head.changedIn - next + 1);
    const generations = Array.from({ length }, (_, i) => next + i);
    for (const { changedFromSeq } of await readHistories(dependencies, of, generations))
      first = Math.min(first, changedFromSeq ?? Infinity);
  }
  return first === Infinity ? undefined : first;
}
