import { describe, expect, test } from 'vitest';
import { runSweep } from '../../functions/src/compaction/sweep.ts';
import { createMemoryDocumentStore } from '../../infra/local/embedded/memory-document-store.ts';
import { compactionJobPath, headPath, turnPath } from '../../shared/conversation/paths.ts';
import { readHead, readTurns } from '../../shared/conversation/read-conversation.ts';
import { newTurnWrites, startWrites } from '../../shared/conversation/turn-writes.ts';
import { StoreUnavailableError } from '../../shared/errors.ts';
import { contentText } from '../../shared/conversation/content.ts';
import type { Head } from '../../shared/conversation/head.ts';
import { streamChunkWrite } from '../../shared/conversation/stream-chunk.ts';
import type { Write } from '../../shared/ports.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { createScriptedModel } from '../fakes/scripted-model.ts';
import {
  autoNeed,
  buildDue,
  compactOnce,
  manualNeed,
  neverAborted,
  see,
} from '../support/compacted-conversation.ts';
import { compactionBench, type CompactionBench } from '../support/compaction-dependencies.ts';
import { buildConversation, userText } from '../support/conversation-builder.ts';
import { modelDown } from '../support/model-down.ts';

/** Two minutes after the needs of `buildDue` were noted. */
const sweepBench = (overrides: Partial<CompactionBench> = {}) =>
  compactionBench({
    clock: createManualClock(new Date('2026-01-02T03:06:05.000Z')),
    ...overrides,
  });

const sweep = (bench: CompactionBench) => runSweep(bench, neverAborted());

const quiet = { compactionNeeded: {} };

/** Time of the bench, in seconds from now. */
const inSeconds = (bench: CompactionBench, seconds: number) =>
  new Date(bench.clock.now().getTime() + seconds * 1_000);

/** A conversation of two turns whose third was started by an instance that has been silent since. */
async function buildOpen(bench: CompactionBench, leaseUntil: Date): Promise<string> {
  const { conversationId } = await buildConversation(bench.store, { turns: 2, head: quiet });
  const head = await readHead(bench.store, conversationId);
  if (!head) throw new Error('no head');
  await bench.store.commit(
    startWrites({
      conversationId,
      messageId: 'open',
      bodyHash: 'built',
      seq: 3,
      user: userText('Are you there?'),
      userTokens: 4,
      lease: { producer: 'gone', leaseUntil },
      now: new Date(0),
      head,
    }),
  );
  return conversationId;
}

/** Puts messages behind the open turn that wait until the times given. */
async function addQueued(bench: CompactionBench, conversationId: string, leases: readonly Date[]) {
  const [first] = leases;
  const writes: Write[] = leases.flatMap((leaseUntil, i) =>
    newTurnWrites(
      {
        conversationId,
        messageId: `queued-${i}`,
        bodyHash: 'built',
        seq: 4 + i,
        user: userText('And you?'),
        userTokens: 4,
        lease: { producer: `waiter-${i}`, leaseUntil },
        now: new Date(0),
      },
      'queued',
    ),
  );
  const fields = { lastSeq: 3 + leases.length, queue: { first: 4, leaseUntil: first ?? null } };
  const path = headPath(conversationId);
  await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }, ...writes]);
}

const headOf = async (bench: CompactionBench, conversationId: string) =>
  (await readHead(bench.store, conversationId))?.value;

const statesFrom = async (bench: CompactionBench, conversationId: string, seqs: number[]) =>
  (await readTurns(bench.store, conversationId, seqs)).map(({ value }) => value.state);

describe('an open turn that nobody answers', () => {
  test('is closed as failed, and the conversation is free', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));

    const counts = await sweep(bench);

    const [turn] = await readTurns(bench.store, conversationId, [3]);
    expect(counts).toMatchObject({ turnsClosed: 1, failed: 0 });
    expect(turn?.value).toMatchObject({
      state: 'failed',
      error: { reason: 'TURN_ABANDONED' },
      inContext: false,
    });
    expect((await headOf(bench, conversationId))?.open).toBeUndefined();
  });

  test('may still be answered when its phone comes back, as long as nothing follows it', async () => {
    const bench = sweepBench();
    const last = await buildOpen(bench, inSeconds(bench, -1));
    const followed = await buildOpen(bench, inSeconds(bench, -1));
    await addQueued(bench, followed, [inSeconds(bench, 60)]);

    await sweep(bench);

    const errorOf = async (id: string) =>
      (await readTurns(bench.store, id, [3])).map(({ value }) => value.error?.retryable);
    expect(await errorOf(last)).toEqual([true]);
    expect(await errorOf(followed)).toEqual([false]);
  });

  test('is closed as cancelled when that was asked for', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    const path = turnPath(conversationId, 3);
    const fields = { cancelRequested: true };
    await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);

    await sweep(bench);

    expect(await statesFrom(bench, conversationId, [3])).toEqual(['cancelled']);
  });

  test('keeps what it had said when it is closed as cancelled', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    const path = turnPath(conversationId, 3);
    const fields = { cancelRequested: true, chunks: 1 };
    const delta = { type: 'text-delta', id: 'p0', delta: 'Half an answer' } as const;
    await bench.store.commit([
      { op: 'update', path, fields, guard: { exists: true } },
      streamChunkWrite({
        conversationId,
        seq: 3,
        attempt: 1,
        producer: 'gone',
        n: 1,
        frames: [{ id: 0, chunk: delta }],
        isFinal: false,
        now: new Date(0),
      }),
    ]);

    await sweep(bench);

    const [turn] = await readTurns(bench.store, conversationId, [3]);
    expect(turn?.value).toMatchObject({ state: 'cancelled', inContext: true });
    expect(turn?.value.contents.map(contentText)).toEqual(['Half an answer']);
  });

  test('stays while its producer renews the lease, whatever the head says', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -60));
    const path = turnPath(conversationId, 3);
    const fields = { leaseUntil: inSeconds(bench, 10) };
    await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);

    const counts = await sweep(bench);

    expect(counts.turnsClosed).toBe(0);
    expect(await statesFrom(bench, conversationId, [3])).toEqual(['running']);
    expect((await headOf(bench, conversationId))?.open?.seq).toBe(3);
  });

  test('stays when it is taken over between the look and the batch', async () => {
    let hasRenewed = false;
    const store = createMemoryDocumentStore({
      beforeOperation: async (operation) => {
        const isClosing =
          operation.name === 'commit' &&
          operation.writes.some(({ op, path }) => op === 'update' && path.includes('/turns/'));
        if (!isClosing || hasRenewed) return;
        hasRenewed = true;
        const path = operation.writes.find((write) => write.path.includes('/turns/'))?.path ?? '';
        const fields = { leaseUntil: inSeconds(bench, 20), attempt: 2 };
        await store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);
      },
    });
    const bench = sweepBench({ store });
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));

    const counts = await sweep(bench);

    expect(hasRenewed).toBe(true);
    expect(counts).toMatchObject({ turnsClosed: 0, failed: 0 });
    expect(await statesFrom(bench, conversationId, [3])).toEqual(['running']);
  });
});

describe('messages that wait', () => {
  test('are closed as long as nobody waits with them, and the first that somebody waits with is next', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    const held = inSeconds(bench, 20);
    await addQueued(bench, conversationId, [inSeconds(bench, -5), inSeconds(bench, -5), held]);

    const counts = await sweep(bench);

    const head = await headOf(bench, conversationId);
    expect(counts.turnsClosed).toBe(3);
    expect(await statesFrom(bench, conversationId, [3, 4, 5, 6])).toEqual([
      'failed',
      'failed',
      'failed',
      'queued',
    ]);
    expect(head?.queue).toEqual({ first: 6, leaseUntil: held });
    expect(head?.open).toBeUndefined();
  });

  test('stay for two seconds after their lease: their sender may be coming back', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    await addQueued(bench, conversationId, [inSeconds(bench, -1.9)]);

    const early = await sweep(bench);
    expect(await statesFrom(bench, conversationId, [3, 4])).toEqual(['failed', 'queued']);
    bench.clock.advance(200);
    const late = await sweep(bench);

    expect([early.turnsClosed, late.turnsClosed]).toEqual([1, 1]);
    expect(await statesFrom(bench, conversationId, [4])).toEqual(['failed']);
  });

  test('leave no queue behind when nobody waits at all', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, 20));
    await addQueued(bench, conversationId, [inSeconds(bench, -5), inSeconds(bench, -5)]);

    await sweep(bench);

    const head = await headOf(bench, conversationId);
    expect(head?.queue).toBeUndefined();
    expect(head?.open?.seq).toBe(3);
    expect(await statesFrom(bench, conversationId, [3, 4, 5])).toEqual([
      'running',
      'failed',
      'failed',
    ]);
  });
});

describe('a need', () => {
  test('that waits for a minute is published again', async () => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench);

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ needsPublished: 1, failed: 0 });
    expect(bench.published).toEqual([
      { topic: 'compaction', data: { schemaVersion: 1, conversationId, requestId: 'request-1' } },
    ]);
  });

  test('of a person is published before older ones of the threshold', async () => {
    const bench = sweepBench();
    await buildDue(bench, { turns: 1 });
    const asked = await buildDue(bench, { turns: 1, head: { compactionNeeded: manualNeed() } });

    await sweep(bench);

    expect(bench.published).toHaveLength(2);
    expect(bench.published[0]?.data).toMatchObject({ conversationId: asked });
  });

  test('and another of the same conversation are one event', async () => {
    const bench = sweepBench();
    await buildDue(bench, { head: { compactionNeeded: { ...autoNeed(), ...manualNeed() } } });

    expect((await sweep(bench)).needsPublished).toBe(1);
  });

  test('is left alone while its event is on its way', async () => {
    const bench = sweepBench();
    const since = inSeconds(bench, -59);
    await buildDue(bench, {
      head: { compactionNeeded: { auto: { requestId: 'r', since, trigger: 'auto' } } },
    });

    expect((await sweep(bench)).needsPublished).toBe(0);
  });

  test('is left alone until the model may be asked again, then published', async () => {
    const bench = sweepBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    bench.published.length = 0;

    const early = await sweep(bench);
    bench.clock.advance(46_000);
    const late = await sweep(bench);

    expect([early.needsPublished, late.needsPublished]).toEqual([0, 1]);
  });

  test('is left alone while a worker holds its lease', async () => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench);
    const dying = sweepBench({
      ...bench,
      atCrashPoint: (point) =>
        point === 'claimed' ? Promise.reject(new Error('died')) : Promise.resolve(),
    });
    await expect(compactOnce(dying, conversationId)).rejects.toThrow('died');

    const early = await sweep(bench);
    bench.clock.advance(61_000);
    const late = await sweep(bench);

    expect([early.needsPublished, late.needsPublished]).toEqual([0, 1]);
  });

  test('of a deleted conversation is settled with the reason on record', async () => {
    const bench = sweepBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const path = headPath(conversationId);
    const fields = { state: 'deleted' };
    await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);
    bench.published.length = 0;

    const counts = await sweep(bench);

    const { head, job } = await see(bench.store, conversationId);
    expect(counts).toMatchObject({ needsDropped: 1, needsPublished: 0 });
    expect(head.compactionNeeded).toEqual({});
    expect(job?.records.at(-1)).toMatchObject({ state: 'NOOP', reason: 'NOT_LIVE' });
    expect(bench.published).toEqual([]);
  });

  test.each(['forking', 'erasing', 'erased'] as const)(
    'of a conversation that is %s is not published',
    async (state) => {
      const bench = sweepBench();
      await buildDue(bench, { head: { state, createTime: bench.clock.now() } });

      expect(await sweep(bench)).toMatchObject({ needsPublished: 0, needsDropped: 0 });
    },
  );

  test('is published again only as often as it is tried, then a reason is on record', async () => {
    const bench = sweepBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);

    const published: number[] = [];
    for (let round = 0; round < 6; round++) {
      published.push((await sweep(bench)).needsPublished);
      await compactOnce(bench, conversationId);
      bench.clock.advance(10 * 60_000);
    }

    const { head, job } = await see(bench.store, conversationId);
    expect(published).toEqual([1, 1, 1, 0, 0, 0]);
    expect(head.compactionNeeded).toEqual({});
    expect(job?.records.at(-1)).toMatchObject({ state: 'FAILED_ERROR' });
  });

  test('that no worker can serve is given up after a day, with the reason on record', async () => {
    const bench = sweepBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    bench.clock.advance(25 * 60 * 60_000);

    const counts = await sweep(bench);

    const { head, job } = await see(bench.store, conversationId);
    expect(counts).toMatchObject({ needsDropped: 1, needsPublished: 0 });
    expect(head.compactionNeeded).toEqual({});
    expect(job?.records.at(-1)).toMatchObject({ state: 'FAILED_ERROR', reason: 'NOT_SERVED' });
  });

  test('whose job cannot be read is published for a day, then given up', async () => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench);
    const path = compactionJobPath(conversationId);
    await bench.store.commit([{ op: 'create', path, fields: { schemaVersion: 99 } }]);

    const first = await sweep(bench);
    bench.clock.advance(25 * 60 * 60_000);
    const second = await sweep(bench);

    expect(first).toMatchObject({ needsPublished: 1, needsDropped: 0 });
    expect(second).toMatchObject({ needsPublished: 0, needsDropped: 1 });
    expect(bench.logged).toContainEqual(
      expect.objectContaining({
        event: 'compaction_need_dropped',
        fields: expect.objectContaining({ reason: 'NOT_SERVED', conversationId }),
      }),
    );
  });
});

describe('a sweep', () => {
  test('reads every page, and what cannot be mended hides nothing', async () => {
    const bench = sweepBench();
    for (let i = 0; i < 100; i++)
      await bench.store.commit([
        {
          op: 'create',
          path: `conversations/broken-${i}`,
          fields: { compactionNeeded: { auto: { since: new Date(0) } } },
        },
      ]);
    const ids: string[] = [];
    for (let i = 0; i < 120; i++) ids.push(await buildDue(bench, { turns: 1 }));

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ needsPublished: 120, failed: 100 });
    const told = bench.published.map(({ data }) => Reflect.get(data, 'conversationId'));
    expect(new Set(told)).toEqual(new Set(ids));
    expect(JSON.stringify(bench.logged)).not.toContain('broken-');
  });

  test('publishes at most a thousand needs, ten at a time, the rest comes with the next one', async () => {
    let [underWay, most] = [0, 0];
    const bench = sweepBench({
      publisher: {
        publish: async () => {
          most = Math.max(most, (underWay += 1));
          await new Promise((resolve) => setImmediate(resolve));
          underWay -= 1;
        },
      },
    });
    const head: Partial<Head> = { compactionNeeded: autoNeed() };
    for (let i = 0; i < 1_050; i++) await buildConversation(bench.store, { turns: 0, head });

    expect((await sweep(bench)).needsPublished).toBe(1_000);
    expect(most).toBe(10);
  });

  test('goes on when one publish fails', async () => {
    let asked = 0;
    const bench = sweepBench({
      publisher: {
        publish: () => {
          asked += 1;
          return asked === 1
            ? Promise.reject(new StoreUnavailableError({ operation: 'publish' }))
            : Promise.resolve();
        },
      },
    });
    for (let i = 0; i < 3; i++) await buildDue(bench, { turns: 1 });

    expect(await sweep(bench)).toMatchObject({ needsPublished: 2, failed: 1 });
  });

  test('does the rest when one query fails', async () => {
    const memory = createMemoryDocumentStore();
    const bench = sweepBench({
      store: {
        ...memory,
        query: (query) =>
          query.orderBy?.field === 'open.leaseUntil'
            ? Promise.reject(new StoreUnavailableError({ operation: 'query' }))
            : memory.query(query),
      },
    });
    await buildDue(bench);

    expect(await sweep(bench)).toMatchObject({ needsPublished: 1, failed: 1 });
    expect(bench.logged).toContainEqual({
      severity: 'WARNING',
      event: 'sweep_failed',
      fields: {
        pass: 'turns',
        error: 'StoreUnavailableError',
        reason: 'STORE_UNAVAILABLE',
      },
    });
  });

  test('ends when its time is up and says that it is not complete', async () => {
    const controller = new AbortController();
    const bench = sweepBench({
      publisher: {
        publish: () => {
          controller.abort();
          return Promise.resolve();
        },
      },
    });
    for (let i = 0; i < 30; i++) await buildDue(bench, { turns: 1 });

    const counts = await runSweep(bench, controller.signal);

    expect(counts.needsPublished).toBeLessThan(30);
    expect(counts.failed).toBe(0);
    expect(bench.logged.at(-1)).toMatchObject({
      event: 'sweep_finished',
      fields: { isComplete: false },
    });
  });

  test('ends by itself after four minutes', async () => {
    const bench = sweepBench({
      publisher: {
        publish: () => {
          bench.clock.advance(240_000);
          return Promise.resolve();
        },
      },
    });
    for (let i = 0; i < 30; i++) await buildDue(bench, { turns: 1 });

    await sweep(bench);

    expect(bench.logged.at(-1)).toMatchObject({ fields: { isComplete: false } });
  });

  test('tells what it did in one line', async () => {
    const bench = sweepBench();
    await buildDue(bench);

    await sweep(bench);

    expect(bench.logged).toEqual([
      {
        severity: 'INFO',
        event: 'sweep_finished',
        fields: {
          turnsClosed: 0,
          needsPublished: 1,
          needsDropped: 0,
          conversationsErased: 0,
          erasuresFinished: 0,
          tombstonesDropped: 0,
          failed: 0,
          isComplete: true,
          durationMs: 0,
        },
      },
    ]);
  });

  test('that finds nothing changes nothing', async () => {
    const bench = sweepBench();
    const { conversationId } = await buildConversation(bench.store, { turns: 3 });
    const [before] = await bench.store.get([headPath(conversationId)]);

    await sweep(bench);

    expect(await bench.store.get([headPath(conversationId)])).toEqual([before]);
  });

  test('beside another one mends once', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));

    const both = await Promise.all([sweep(bench), sweep(bench)]);

    expect(both.reduce((sum, { turnsClosed }) => sum + turnsClosed, 0)).toBe(1);
    expect(both.map(({ failed }) => failed)).toEqual([0, 0]);
    expect(await statesFrom(bench, conversationId, [3])).toEqual(['failed']);
  });
});

/** How many documents there are below a conversation. */
const countBelow = async (bench: CompactionBench, conversationId: string) => {
  const collections = ['turns', 'messages', 'histories', 'jobs', 'public', 'blobs'];
  const found = await Promise.all(
    collections.map((name) =>
      bench.store.query({ collection: `${headPath(conversationId)}/${name}`, limit: 500 }),
    ),
  );
  return found.flat().length;
};

describe('what is to be erased', () => {
  test.each<[string, (bench: CompactionBench) => Partial<Head>]>([
    ['is marked as erasing', () => ({ state: 'erasing' })],
    [
      'was deleted long enough ago',
      (bench) => ({ state: 'deleted', purgeTime: inSeconds(bench, -1) }),
    ],
    ['has expired', (bench) => ({ state: 'live', expireTime: inSeconds(bench, -1) })],
    [
      'has expired after it was deleted',
      (bench) => ({ state: 'deleted', expireTime: inSeconds(bench, -1) }),
    ],
    [
      'is a fork that nobody finished',
      (bench) => ({ state: 'forking', createTime: inSeconds(bench, -601) }),
    ],
  ])('a conversation that %s leaves only its tombstone', async (_, head) => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench, { turns: 3, head: head(bench) });

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ conversationsErased: 1, failed: 0 });
    expect(await countBelow(bench, conversationId)).toBe(0);
    expect((await headOf(bench, conversationId))?.state).toBe('erased');
  });

  test.each<[string, (bench: CompactionBench) => Partial<Head>]>([
    [
      'was deleted a moment ago',
      (bench) => ({ state: 'deleted', purgeTime: inSeconds(bench, 10), ...quiet }),
    ],
    [
      'was restored from its deletion',
      (bench) => ({ state: 'live', purgeTime: inSeconds(bench, -1) }),
    ],
    ['expires later', (bench) => ({ state: 'live', expireTime: inSeconds(bench, 10) })],
    [
      'is a fork that is being copied',
      (bench) => ({ state: 'forking', createTime: inSeconds(bench, -599) }),
    ],
  ])('a conversation that %s stays', async (_, head) => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench, { turns: 3, head: head(bench) });

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ conversationsErased: 0, failed: 0 });
    expect(await countBelow(bench, conversationId)).toBe(6);
  });

  test('a tombstone goes when its time is over, not before', async () => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench, { turns: 3, head: { state: 'erasing' } });
    await sweep(bench);

    bench.clock.advance(29 * 24 * 60 * 60_000);
    const early = await sweep(bench);
    bench.clock.advance(2 * 24 * 60 * 60_000);
    const late = await sweep(bench);

    expect([early.tombstonesDropped, late.tombstonesDropped]).toEqual([0, 1]);
    expect(await headOf(bench, conversationId)).toBeUndefined();
  });

  test('an erased turn that nobody finished is finished', async () => {
    const bench = sweepBench();
    const since = inSeconds(bench, -61);
    const conversationId = await buildDue(bench, {
      turns: 3,
      head: { pendingErasure: { since, seqs: [2] }, ...quiet },
    });

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ erasuresFinished: 1, failed: 0 });
    expect((await headOf(bench, conversationId))?.pendingErasure).toBeUndefined();
  });

  test('an erasure that stops half way is finished by the next sweep', async () => {
    let left = 1;
    const store = createMemoryDocumentStore({
      beforeOperation: (operation) =>
        operation.name === 'deleteBelow' && left-- > 0
          ? Promise.reject(new StoreUnavailableError({ operation: 'delete' }))
          : Promise.resolve(),
    });
    const bench = sweepBench({ store });
    const conversationId = await buildDue(bench, { turns: 3, head: { state: 'erasing' } });

    const first = await sweep(bench);
    const second = await sweep(bench);

    expect([first.failed, second.failed]).toEqual([1, 0]);
    expect(await countBelow(bench, conversationId)).toBe(0);
  });
});
