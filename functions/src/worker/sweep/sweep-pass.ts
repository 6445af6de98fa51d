import { CrashedError } from '#functions/lib/crash-points.ts';
import { inParallel } from '#shared/lib/in-parallel.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { CONVERSATIONS } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Query, StoredDocument } from '#shared/ports/ports.ts';
import { fieldAt, readPages } from '#shared/store/many-documents.ts';

/** Conversations that one query of a sweep reads. */
const PAGE = 100;

/** What one sweep did. */
export interface SweepCounts {
  turnsClosed: number;
  requestsPublished: number;
  requestsDropped: number;
  conversationsErased: number;
  /** Erasures that were left to the other workers, as there were more than one sweep does itself. */
  erasuresHandedOver: number;
  erasuresFinished: number;
  tombstonesDropped: number;
  /** Guests of whom nothing is left to move. */
  claimsFinished: number;
  /** Steps of the app behind turns. */
  afterTurnsRun: number;
  /** Items and queries that failed; the next sweep meets them again. */
  failed: number;
}

/** One sweep under way. */
export interface Sweep {
  dependencies: Pick<
    WorkerDependencies,
    | 'store'
    | 'files'
    | 'cache'
    | 'publisher'
    | 'clock'
    | 'randomness'
    | 'sha256'
    | 'config'
    | 'logger'
    | 'atCrashPoint'
    | 'afterTurn'
  >;
  /** Fires when the time is up: what is not done is left to the next sweep. */
  signal: AbortSignal;
  counts: SweepCounts;
}

/** The time that a document has in a field; undefined where there is none. */
export function timeAt(document: StoredDocument, field: string): Date | undefined {
  const value = fieldAt(document.fields, field);
  return value instanceof Date ? value : undefined;
}

/** Conversations of one shard with a time before `before`, the earliest first (`pickSweepShard`). */
export const earlierInShard = (shard: number, field: string, before: Date) =>
  ({
    where: [
      { field: 'sweepShard', op: '==', value: shard },
      { field, op: '<', value: before },
    ],
    orderBy: { field, direction: 'asc' },
  }) as const;

/** Conversations with a time before `before`, the earliest first. */
export const earlierThan = (field: string, before: Date) =>
  ({
    where: [{ field, op: '<', value: before }],
    orderBy: { field, direction: 'asc' },
  }) as const;

/** The conversations that a query finds, page by page: what could not be mended hides nothing. Ends when the time is up. */
export async function* readConversations(
  { dependencies, signal }: Sweep,
  query: Pick<Query, 'where' | 'orderBy'>,
): AsyncIterable<StoredDocument[]> {
  if (signal.aborted) return;
  const paged = { collection: CONVERSATIONS, ...query, limit: PAGE };
  for await (const page of readPages(dependencies.store, paged)) {
    yield page;
    if (signal.aborted) return;
  }
}

/** Logs what failed by its name; a failure that may pass is no alarm. */
function logFailure({ dependencies, counts }: Sweep, pass: string, error: unknown): void {
  counts.failed += 1;
  const isPassing = error instanceof AppError && error.retryable;
  dependencies.logger.log(isPassing ? 'WARNING' : 'ERROR', 'sweep_failed', {
    pass,
    error: error instanceof Error ? error.name : typeof error,
    reason: error instanceof AppError ? error.reason : undefined,
  });
}

/** Does `work`; what it throws is counted and logged and stops nothing else. */
export async function guarded(
  sweep: Sweep,
  pass: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof CrashedError) throw error;
    // When the time is up, what was under way fails for that reason.
    if (!sweep.signal.aborted) logFailure(sweep, pass, error);
  }
}

/** Does `work` for each item, `atOnce` side by side, until the time is up. Failures as in `guarded`. */
export async function forEachItem<T>(
  sweep: Sweep,
  each: { pass: string; items: readonly T[]; atOnce: number },
  work: (item: T) => Promise<void>,
): Promise<void> {
  await inParallel(each.items, each.atOnce, async (item) => {
    if (!sweep.signal.aborted) await guarded(sweep, each.pass, () => work(item));
  });
}

/** The conversation that a conversation document belongs to. */
export const conversationIdFromPath = (conversation: Pick<StoredDocument, 'path'>): string =>
  conversation.path.slice(CONVERSATIONS.length + 1);
