import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { runAfterTurn } from '#functions/events/run-after-turn.ts';
import {
  AFTER_TURN_TRIES_MAX,
  AFTER_TURNS,
  decodeAfterTurn,
  triedFields,
} from '#shared/hooks/after-turn.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import { readPages } from '#shared/store/many-documents.ts';
import { earlierThan, forEachItem, type Sweep } from './sweep-pass.ts';

/** Steps that run side by side. */
const AT_ONCE = 10;
/** Entries that one query reads. */
const PAGE = 100;

/**
 * What has been due for so long is dropped by a worker whose app has no step, ms. Not before: while a deployment replaces
 * chat and worker one after the other, chat may have one already.
 */
const STEP_GONE_AFTER_MS = 24 * 60 * 60_000;

/**
 * Does one thing behind a turn that the instance which answered it did not do, or failed at; where there is nothing to be
 * done any more, it goes. Throws GuardLostError.
 */
async function serve(sweep: Sweep, { path, fields, updateTime }: StoredDocument): Promise<void> {
  const { dependencies, signal, counts } = sweep;
  const { store, clock, logger } = dependencies;
  if (!dependencies.afterTurn)
    return void (await store.commit([{ op: 'delete', path, guard: { updateTime } }]));
  const entry = decodeAfterTurn({ fields });
  if (entry.tries >= AFTER_TURN_TRIES_MAX) {
    await store.commit([{ op: 'delete', path, guard: { updateTime } }]);
    const { conversationId, seq } = entry;
    logger.log('ERROR', 'after_turn_given_up', { conversationId, seq, tries: entry.tries });
    return;
  }
  // Two sweeps at once: the first to note the try runs it.
  await store.commit([
    { op: 'update', path, fields: triedFields(entry, clock.now()), guard: { updateTime } },
  ]);
  const ran = () => passWorkerCrashPoint(dependencies, 'sweep-after-turn-ran');
  if (await runAfterTurn(dependencies, entry, { signal, ran })) counts.afterTurnsRun += 1;
}

/** Runs the app's steps behind turns that are left, and drops those of an app that has none. Throws StoreUnavailableError. */
export async function sweepAfterTurns(sweep: Sweep): Promise<void> {
  const { dependencies, signal } = sweep;
  const waitedMs = dependencies.afterTurn ? 0 : STEP_GONE_AFTER_MS;
  const due = earlierThan('dueTime', new Date(dependencies.clock.now().getTime() - waitedMs));
  for await (const items of readPages(dependencies.store, {
    collection: AFTER_TURNS,
    ...due,
    limit: PAGE,
  })) {
    await forEachItem(sweep, { pass: 'afterTurns', items, atOnce: AT_ONCE }, (item) =>
      serve(sweep, item),
    );
    if (signal.aborted) return;
  }
}
