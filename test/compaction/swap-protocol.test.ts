import { describe, expect, test } from 'vitest';
import type { CompactionBench } from '../support/compaction-dependencies.ts';
import { compactionBench } from '../support/compaction-dependencies.ts';
import {
  autoNeed,
  buildDue,
  compactOnce,
  manualNeed,
  see,
} from '../support/compacted-conversation.ts';
import { addTurn } from '../support/conversation-builder.ts';
import { createScriptedModel, snapshotAnswer } from '../fakes/scripted-model.ts';
import { runCompaction } from '../../functions/src/compaction/run-compaction.ts';
import { StoppedError } from '../../functions/src/compaction/outcome.ts';
import { createMemoryDocumentStore } from '../../infra/local/embedded/memory-document-store.ts';
import { StoreUnavailableError } from '../../shared/errors.ts';
import {
  compactionJobPath,
  headPath,
  historiesCollection,
  historyPath,
} from '../../shared/conversation/paths.ts';

const historiesOf = (bench: Pick<CompactionBench, 'store'>, conversationId: string) =>
  bench.store.query({ collection: historiesCollection(conversationId), limit: 10 });

const setHead = (
  bench: CompactionBench,
  conversationId: string,
  fields: Record<string, number | string>,
) =>
  bench.store.commit([
    { op: 'update', path: headPath(conversationId), fields, guard: { exists: true } },
  ]);

/** A person asks for a compaction. */
const ask = (bench: CompactionBench, conversationId: string, requestId: string) =>
  bench.store.commit([
    {
      op: 'update',
      path: headPath(conversationId),
      fields: { 'compactionNeeded.manual': { requestId, since: new Date(0) } },
      guard: { exists: true },
    },
  ]);

describe('duplicate deliveries', () => {
  test.each([
    ['automatic', autoNeed()],
    ['manual', manualNeed()],
  ])('five deliveries of one %s request make one swap and two model calls', async (_, need) => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { head: { compactionNeeded: need } });

    for (let delivery = 0; delivery < 5; delivery++) await compactOnce(bench, conversationId);

    expect(await historiesOf(bench, conversationId)).toHaveLength(1);
    expect(bench.model.calls).toHaveLength(2);
  });

  test('an event for a conversation that does not exist is acknowledged', async () => {
    const bench = compactionBench();

    const result = await compactOnce(bench, 'nobody');

    expect(result).toEqual({ kind: 'done', reason: 'NOT_LIVE' });
  });

  test('two workers that start together make one swap, and the other is asked to come back', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const results = await Promise.all([
      compactOnce(bench, conversationId),
      compactOnce(bench, conversationId),
    ]);

    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['done', 'retry']);
    expect(await historiesOf(bench, conversationId)).toHaveLength(1);
    expect(bench.model.calls).toHaveLength(2);
  });

  test('a worker that outlived its lease loses the swap to the one that took it', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const slowBench = compactionBench({
      ...bench,
      model: createScriptedModel({
        answers: [
          async () => {
            // The slow worker's clock stands still: its lease expires without a renewal.
            const fresh = compactionBench({ ...bench, clock: compactionBench().clock });
            fresh.clock.advance(120_000);
            await compactOnce(fresh, conversationId);
            return snapshotAnswer('Written too late.');
          },
          snapshotAnswer('Written too late.'),
        ],
      }),
    });

    const result = await compactOnce(slowBench, conversationId);

    const { head, text } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'LEASE_LOST' });
    expect(head.generation).toBe(1);
    expect(text).not.toContain('too late');
  });
});

describe('an old fence', () => {
  test('a worker whose lease was taken after it verified changes nothing', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const overtaken = compactionBench({
      ...bench,
      atCrashPoint: async (name) => {
        if (name !== 'verified') return;
        await bench.store.commit([
          {
            op: 'update',
            path: compactionJobPath(conversationId),
            fields: { owner: 'another', fence: 2 },
            guard: { exists: true },
          },
        ]);
      },
    });

    const result = await compactOnce(overtaken, conversationId);

    const { head, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'LEASE_LOST' });
    expect(head).toMatchObject({ generation: 0, coveredThrough: { seq: 0 } });
    expect(job).toMatchObject({ owner: 'another', fence: 2, records: [] });
    expect(await historiesOf(bench, conversationId)).toHaveLength(0);
  });
});

describe('crashes', () => {
  test.each(['claimed', 'planned', 'summarised', 'verified', 'swapped', 'settled'])(
    'a worker that dies when it has %s is finished by the next delivery, with one swap',
    async (point) => {
      const bench = compactionBench();
      const conversationId = await buildDue(bench);
      const dying = compactionBench({
        ...bench,
        atCrashPoint: (name) =>
          name === point ? Promise.reject(new Error(`died at ${name}`)) : Promise.resolve(),
      });
      await expect(compactOnce(dying, conversationId)).rejects.toThrow(`died at ${point}`);

      bench.clock.advance(61_000);
      await compactOnce(bench, conversationId);

      const { head, job } = await see(bench.store, conversationId);
      expect(head).toMatchObject({ generation: 1, compactionNeeded: {} });
      expect(job?.owner).toBe('');
      expect(job?.records.filter(({ state }) => state === 'COMPACTED')).toHaveLength(1);
    },
  );

  test('before the lease of a dead worker has expired the next one waits', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const dying = compactionBench({
      ...bench,
      atCrashPoint: () => Promise.reject(new Error('died')),
    });
    await expect(compactOnce(dying, conversationId)).rejects.toThrow('died');

    const result = await compactOnce(bench, conversationId);

    expect(result).toEqual({ kind: 'retry', reason: 'LEASE_HELD', retryAfterMs: 60_000 });
  });

  test('a need whose worker always dies is settled after three attempts', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const dying = compactionBench({
      ...bench,
      atCrashPoint: (name) =>
        name === 'planned' ? Promise.reject(new Error('died')) : Promise.resolve(),
    });
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(compactOnce(dying, conversationId)).rejects.toThrow('died');
      bench.clock.advance(61_000);
    }

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'FAILED_ERROR', reason: 'ATTEMPTS_USED_UP' });
    expect((await see(bench.store, conversationId)).head.compactionNeeded).toEqual({});
  });
});

/** Applies the first swap, loses its reply, and the reply of the read that follows. */
function createDeafStore() {
  let isSwapLost = false;
  let isCheckLost = false;
  const away = () => new StoreUnavailableError({ operation: 'swap' });
  return createMemoryDocumentStore({
    beforeOperation: async (operation) => {
      await Promise.resolve();
      if (!isSwapLost || isCheckLost || operation.name !== 'get') return;
      isCheckLost = true;
      throw away();
    },
    afterCommit: async (writes) => {
      await Promise.resolve();
      if (isSwapLost || !writes.some(({ path }) => path.includes('/histories/'))) return;
      isSwapLost = true;
      throw away();
    },
  });
}

describe('three tries', () => {
  test('are not counted afresh because a person compacts in between', async () => {
    const bench = compactionBench({
      model: createScriptedModel({ answers: [new StoreUnavailableError({ operation: 'x' })] }),
    });
    const conversationId = await buildDue(bench);
    for (const requestId of ['m-1', 'm-2', 'm-3']) {
      await compactOnce(bench, conversationId);
      bench.clock.advance(31 * 60_000);
      await ask(bench, conversationId, requestId);
      await compactOnce(bench, conversationId);
    }

    const { head, job } = await see(bench.store, conversationId);
    expect(head.compactionNeeded).toEqual({});
    expect(job?.records.filter(({ requestId }) => requestId === 'request-1')).toHaveLength(3);
  });
});

describe('lost replies', () => {
  test('a swap whose reply is lost is COMPACTED, once', async () => {
    let lost = 0;
    const store = createMemoryDocumentStore({
      afterCommit: async (writes) => {
        await Promise.resolve();
        if (lost === 0 && writes.some(({ path }) => path.includes('/histories/'))) {
          lost += 1;
          throw new StoreUnavailableError({ operation: 'commit' });
        }
      },
    });
    const bench = compactionBench({ store });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    const { head, job } = await see(bench.store, conversationId);
    expect(lost).toBe(1);
    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(head).toMatchObject({ generation: 1, compactionNeeded: {} });
    expect(job?.records).toHaveLength(1);
  });

  test('a swap of which neither reply nor check arrives is settled by the next delivery', async () => {
    const bench = compactionBench({ store: createDeafStore() });
    const conversationId = await buildDue(bench);

    const first = await compactOnce(bench, conversationId);
    const second = await compactOnce(bench, conversationId);

    const { head, job } = await see(bench.store, conversationId);
    expect(first.kind).toBe('retry');
    expect(second).toEqual({ kind: 'done', reason: 'SETTLED' });
    expect(head).toMatchObject({ generation: 1, compactionNeeded: {} });
    expect(job?.records).toMatchObject([{ state: 'COMPACTED' }]);
    expect(bench.model.calls).toHaveLength(2);
  });

  test('a claim whose reply is lost is still this worker’s', async () => {
    let lost = 0;
    const store = createMemoryDocumentStore({
      afterCommit: async (writes) => {
        await Promise.resolve();
        if (lost === 0 && writes.some(({ path }) => path.endsWith('/jobs/compaction'))) {
          lost += 1;
          throw new StoreUnavailableError({ operation: 'commit' });
        }
      },
    });
    const bench = compactionBench({ store });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(lost).toBe(1);
    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect((await see(bench.store, conversationId)).job?.fence).toBe(1);
  });

  test('a swap that the store refuses for a while is repeated', async () => {
    let refused = 0;
    const store = createMemoryDocumentStore({
      beforeOperation: async (operation) => {
        await Promise.resolve();
        const isSwap =
          operation.name === 'commit' &&
          operation.writes.some(({ path }) => path.includes('/histories/'));
        if (!isSwap || refused === 2) return;
        refused += 1;
        throw new StoreUnavailableError({ operation: 'commit' });
      },
    });
    const bench = compactionBench({ store });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(refused).toBe(2);
    expect(result).toMatchObject({ state: 'COMPACTED' });
  });
});

describe('a conversation that goes on', () => {
  test('turns that arrive while the summary is written stay verbatim behind it', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const busy = compactionBench({
      ...bench,
      model: createScriptedModel({
        answers: [
          async () => {
            await addTurn(bench.store, conversationId, { user: 'Late one', answer: 'Answered.' });
            return snapshotAnswer();
          },
          async () => {
            await addTurn(bench.store, conversationId, { user: 'Late two', answer: 'Answered.' });
            return snapshotAnswer();
          },
        ],
      }),
    });

    const result = await compactOnce(busy, conversationId);

    const { head, items, text } = await see(bench.store, conversationId);
    const seqs = [...new Set(items.flatMap(({ seq }) => seq ?? []))];
    const first = head.coveredThrough.seq + 1;
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(head.lastSeq).toBe(22);
    expect(seqs).toEqual(Array.from({ length: 22 - first + 1 }, (_, index) => first + index));
    expect(text).toContain('Late one');
    expect(text).toContain('Late two');
  });

  test('a need that chat has replaced meanwhile is not cleared', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const replacing = compactionBench({
      ...bench,
      atCrashPoint: async (name) => {
        if (name !== 'swapped') return;
        await bench.store.commit([
          {
            op: 'update',
            path: headPath(conversationId),
            fields: { 'compactionNeeded.auto.requestId': 'request-2' },
            guard: { exists: true },
          },
        ]);
      },
    });

    await compactOnce(replacing, conversationId);

    const { head } = await see(bench.store, conversationId);
    expect(head.compactionNeeded.auto?.requestId).toBe('request-2');
  });

  test.each(['summarised', 'verified'])(
    'a conversation that is deleted when the worker has %s stays as it was deleted',
    async (point) => {
      const bench = compactionBench();
      const conversationId = await buildDue(bench);
      const deleting = compactionBench({
        ...bench,
        atCrashPoint: async (name) => {
          if (name === point)
            await setHead(bench, conversationId, { state: 'deleted', generation: 1 });
        },
      });

      const result = await compactOnce(deleting, conversationId);

      const { head } = await see(bench.store, conversationId);
      expect(result).toMatchObject({ kind: 'done', state: 'SUPERSEDED', reason: 'NOT_LIVE' });
      expect(head).toMatchObject({ state: 'deleted', generation: 1 });
      expect(head.coveredThrough.seq).toBe(0);
      expect(await historiesOf(bench, conversationId)).toHaveLength(0);
    },
  );

  test('a conversation that is erased meanwhile gets no document back', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const erasing = compactionBench({
      ...bench,
      atCrashPoint: async (name) => {
        if (name !== 'summarised') return;
        await bench.store.commit([
          { op: 'delete', path: compactionJobPath(conversationId) },
          { op: 'delete', path: headPath(conversationId) },
        ]);
      },
    });

    const result = await compactOnce(erasing, conversationId);

    const documents = await bench.store.get([
      headPath(conversationId),
      compactionJobPath(conversationId),
      historyPath(conversationId, 1),
    ]);
    expect(result).toMatchObject({ kind: 'done', state: 'SUPERSEDED', reason: 'NOT_LIVE' });
    expect(documents).toEqual([undefined, undefined, undefined]);
  });

  test('another change that took the generation wins, and the need is tried again', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const editing = compactionBench({
      ...bench,
      atCrashPoint: async (name) => {
        if (name === 'verified') await setHead(bench, conversationId, { generation: 1 });
      },
    });

    const result = await compactOnce(editing, conversationId);

    const { head, job } = await readWithoutHistory(bench, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'GENERATION_MOVED' });
    expect(head?.fields['coveredThrough']).toEqual({ seq: 0, contentIndex: 0 });
    expect(job?.fields['owner']).toBe('');
  });
});

/** The head as it lies there; its generation has no history document in this test. */
async function readWithoutHistory(bench: CompactionBench, conversationId: string) {
  const [head, job] = await bench.store.get([
    headPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  return { head, job };
}

describe('being stopped', () => {
  test('a deadline while the model writes is ABORTED and leaves the need for the next delivery', async () => {
    const controller = new AbortController();
    const bench = compactionBench({
      model: createScriptedModel({
        answers: [
          () => {
            controller.abort(new StoppedError({ state: 'ABORTED', reason: 'DEADLINE' }));
            return Promise.reject(new DOMException('stopped', 'AbortError'));
          },
        ],
      }),
    });
    const conversationId = await buildDue(bench);

    const result = await runCompaction(bench, { conversationId, signal: controller.signal });

    const { head, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'DEADLINE' });
    expect(head).toMatchObject({ generation: 0, compactionNeeded: autoNeed() });
    expect(job).toMatchObject({ owner: '', failures: 0 });
    expect(job?.records).toMatchObject([{ state: 'ABORTED' }]);
  });

  test('the lease is renewed while the model writes', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const seen: (Date | undefined)[] = [];
    const slow = compactionBench({
      ...bench,
      model: createScriptedModel({
        answers: [
          async () => {
            const before = await see(bench.store, conversationId);
            bench.clock.advance(20_000);
            for (let tries = 0; tries < 100; tries++) {
              const { job } = await see(bench.store, conversationId);
              seen.push(job?.leaseUntil);
              if (job && before.job && job.leaseUntil > before.job.leaseUntil) break;
            }
            return snapshotAnswer();
          },
          snapshotAnswer(),
        ],
      }),
    });

    const result = await compactOnce(slow, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(seen.at(-1)?.getTime()).toBe(bench.clock.now().getTime() + 60_000);
  });

  test('a lost lease stops the model call', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const slow = compactionBench({
      ...bench,
      model: createScriptedModel({
        answers: [
          async (_, signal) => {
            await bench.store.commit([
              {
                op: 'update',
                path: compactionJobPath(conversationId),
                fields: { owner: 'another', fence: 2 },
                guard: { exists: true },
              },
            ]);
            const { promise, reject } = Promise.withResolvers<string>();
            signal.addEventListener('abort', () => {
              reject(signal.reason);
            });
            bench.clock.advance(20_000);
            return promise;
          },
        ],
      }),
    });

    const result = await compactOnce(slow, conversationId);

    const { job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'LEASE_LOST' });
    expect(job).toMatchObject({ owner: 'another', records: [] });
  });

  test('a worker that is stopped before it begins claims and gives back', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const result = await runCompaction(bench, { conversationId, signal: AbortSignal.abort() });

    expect(result).toMatchObject({ kind: 'retry', reason: 'CANCELLED' });
    expect((await see(bench.store, conversationId)).job?.owner).toBe('');
  });
});
