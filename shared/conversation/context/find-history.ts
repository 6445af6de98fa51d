import { cleanHistory } from '../writes/erased-history.ts';
import type { Conversation } from '../documents/conversation.ts';
import type { History } from '../documents/history.ts';
import { historyPath } from '../documents/paths.ts';
import type { HistorySource } from './read-conversation.ts';
import { readStoredHistory } from './stored-history.ts';

/** Generations of one read. */
const PAGE = 20;

/** What it takes to read histories past the cache. */
type StoredHistories = Omit<HistorySource, 'cache'>;

interface Of {
  conversationId: string;
  conversation: Conversation;
}

/** The histories of some generations in the order asked for; missing ones are left out. */
export async function readHistories(
  source: StoredHistories,
  { conversationId, conversation }: Of,
  generations: readonly number[],
): Promise<History[]> {
  const documents = await source.store.get(
    generations.map((generation) => historyPath(conversationId, generation)),
  );
  return documents.flatMap((document) =>
    document
      ? [cleanHistory(conversation, readStoredHistory(source, conversationId, document))]
      : [],
  );
}

/** First turn that was replaced, where a generation took turns out of the context that still have words. */
const replacedFrom = ({ changedFromSeq, erasedSeqs }: History): number =>
  erasedSeqs === undefined ? (changedFromSeq ?? Infinity) : Infinity;

/**
 * The newest history that covers no turn after `throughSeq` and may go on, or undefined: it can be
 * read, it was not emptied, and no turn that it covers was replaced since. Its masks may be of later turns.
 */
export async function newestHistoryThrough(
  source: StoredHistories,
  target: Of,
  throughSeq: number,
): Promise<History | undefined> {
  let lastSeq = throughSeq;
  for (let newest = target.conversation.generation; newest > 0; newest -= PAGE) {
    const generations = Array.from({ length: Math.min(PAGE, newest) }, (_, i) => newest - i);
    for (const history of await readHistories(source, target, generations)) {
      const { erased, isUnreadable, coveredThrough } = history;
      if (erased !== true && !isUnreadable && coveredThrough.seq <= lastSeq) return history;
      lastSeq = Math.min(lastSeq, replacedFrom(history) - 1);
    }
  }
  return undefined;
}

/** What may go on in the place of `history`: itself, or, where it cannot be read, the newest earlier one that can, or none. */
export const readableHistory = async (
  source: StoredHistories,
  target: Of,
  history: History | undefined,
): Promise<History | undefined> =>
  history?.isUnreadable
    ? newestHistoryThrough(source, target, history.coveredThrough.seq)
    : history;

/** Turns that changed after a generation was made. */
export interface ChangesSince {
  /** First turn that was replaced, it and all after it. */
  replacedFromSeq: number | undefined;
  /** Turns that were erased; histories that cover them are mended or emptied by that. */
  erasedSeqs: number[];
}

/** What changed after `generation` was made. One read for every 20 generations since. */
export async function changesSince(
  source: StoredHistories,
  target: Of,
  generation: number,
): Promise<ChangesSince> {
  let first = Infinity;
  const erasedSeqs: number[] = [];
  for (let next = generation + 1; next <= target.conversation.changedIn; next += PAGE) {
    const length = Math.min(PAGE, target.conversation.changedIn - next + 1);
    const generations = Array.from({ length }, (_, i) => next + i);
    for (const history of await readHistories(source, target, generations)) {
      first = Math.min(first, replacedFrom(history));
      erasedSeqs.push(...(history.erasedSeqs ?? []));
    }
  }
  return { replacedFromSeq: first === Infinity ? undefined : first, erasedSeqs };
}
