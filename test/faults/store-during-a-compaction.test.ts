import { describe, expect, test } from 'vitest';
import type { CompactionResult } from '#functions/worker/compaction/run-compaction.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { AppError } from '#shared/errors.ts';
import { buildDue, compactOnce, see } from '../support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '../support/compaction/compaction-dependencies.ts';
import { createFaultyStore, storeFaults, type StoreFault } from '../support/stores/faulty-store.ts';
import { historiesOf } from '../support/compaction/stored-histories.ts';

const DELIVERIES = 8;
/** Longer than a worker's lease and any back-off of a first failure. */
const BETWEEN_DELIVERIES_MS = 120_000;

/** Delivers the event until the worker acknowledges it, as Pub/Sub does. */
async function deliver(bench: CompactionBench, conversationId: string): Promise<CompactionResult> {
  for (let delivery = 1; ; delivery++) {
    try {
      const result = await compactOnce(bench, conversationId);
      if (result.kind === 'done' || delivery === DELIVERIES) return result;
    } catch (error) {
      if (!(error instanceof AppError && error.retryable)) throw error;
    }
    bench.clock.advance(BETWEEN_DELIVERIES_MS);
  }
}

async function dueConversation() {
  const faulty = createFaultyStore();
  const bench = compactionBench({ store: createMemoryDocumentStore(faulty.hooks) });
  return { faulty, bench, conversationId: await buildDue(bench) };
}

/** Compacts a conversation while the store fails as it is told. */
async function compactUnder(fault: StoreFault) {
  const { faulty, bench, conversationId } = await dueConversation();
  faulty.arm(fault);
  await deliver(bench, conversationId);
  faulty.arm();
  // A last delivery: whatever the fault left behind is settled now.
  await deliver(bench, conversationId);
  const { conversation, job, items } = await see(bench.store, conversationId);
  const tail = [...new Set(items.flatMap(({ seq }) => seq ?? []))];
  return {
    fault,
    generation: conversation.generation,
    isSettled: conversation.compactionRequests.auto === undefined && job?.owner === '',
    histories: (await historiesOf(bench, conversationId)).length,
    swaps: job?.records.filter(({ state }) => state === 'COMPACTED').length,
    isWhole:
      tail[0] === conversation.coveredThrough.seq + 1 && tail.at(-1) === conversation.lastSeq,
  };
}

const isOneSwap = (done: Awaited<ReturnType<typeof compactUnder>>) =>
  done.generation === 1 &&
  done.isSettled &&
  done.histories === 1 &&
  done.swaps === 1 &&
  done.isWhole;

/** What came of a compaction for each of its store calls failing, first to last. */
async function compactionsUnder(fault: Omit<StoreFault, 'nth'>) {
  const { faulty, bench, conversationId } = await dueConversation();
  faulty.arm();
  await compactOnce(bench, conversationId);
  const runs = [];
  for (let nth = 1; nth <= faulty.calls(); nth++) runs.push(await compactUnder({ ...fault, nth }));
  return runs;
}

describe('a store that answers a compaction with', () => {
  test.each(storeFaults)(
    'a store that answers $name at any call of a compaction still gives one lossless swap',
    async ({ code }) => {
      const runs = await compactionsUnder({ code, calls: 1, isReplyLost: false });

      expect(runs.length).toBeGreaterThan(8);
      expect(runs.filter((run) => !isOneSwap(run))).toEqual([]);
    },
  );

  test.each(storeFaults)(
    'a store that answers $name after a compaction’s commit still gives one lossless swap',
    async ({ code }) => {
      const runs = await compactionsUnder({ code, calls: 1, isReplyLost: true });

      expect(runs.filter((run) => !isOneSwap(run))).toEqual([]);
    },
  );

  test.each([
    { way: 'before it has done anything', isReplyLost: false },
    { way: 'after its commits were applied', isReplyLost: true },
  ])(
    'a store UNAVAILABLE for six calls of a compaction, $way, still gives one swap',
    async ({ isReplyLost }) => {
      const runs = await compactionsUnder({ code: 14, calls: 6, isReplyLost });

      expect(runs.filter((run) => !isOneSwap(run))).toEqual([]);
    },
  );
});
