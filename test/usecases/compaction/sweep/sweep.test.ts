import { describe, expect, test } from 'vitest';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { autoRequest, buildDue } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import {
  buildOpen,
  inSeconds,
  statesFrom,
  sweep,
  sweepBench,
} from '#test/support/compaction/sweeping.ts';

describe('a sweep', () => {
  test('a sweep reads every page, even behind documents it cannot repair', async () => {
    const bench = sweepBench();
    for (let i = 0; i < 100; i++)
      await bench.store.commit([
        {
          op: 'create',
          path: `conversations/broken-${i}`,
          fields: { compactionRequests: { auto: { since: new Date(0) } } },
        },
      ]);
    const ids: string[] = [];
    for (let i = 0; i < 120; i++) ids.push(await buildDue(bench, { turns: 1 }));

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ requestsPublished: 120, failed: 100 });
    const told = bench.published.map(({ data }) => Reflect.get(data, 'conversationId'));
    expect(new Set(told)).toEqual(new Set(ids));
    expect(JSON.stringify(bench.logged)).not.toContain('broken-');
  });

  test('a sweep publishes requests in parallel, twenty at a time', async () => {
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
    const conversation: Partial<Conversation> = { compactionRequests: autoRequest() };
    for (let i = 0; i < 150; i++) await buildConversation(bench.store, { turns: 0, conversation });

    expect((await sweep(bench)).requestsPublished).toBe(150);
    expect(most).toBe(20);
  });

  test('a sweep continues when one publish fails', async () => {
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

    expect(await sweep(bench)).toMatchObject({ requestsPublished: 2, failed: 1 });
  });

  test('a sweep does the rest when one query fails', async () => {
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

    expect(await sweep(bench)).toMatchObject({ requestsPublished: 1, failed: 1 });
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

  test('a sweep ends when its time is up and reports that it is incomplete', async () => {
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

    expect(counts.requestsPublished).toBeLessThan(30);
    expect(counts.failed).toBe(0);
    expect(bench.logged.at(-1)).toMatchObject({
      event: 'sweep_finished',
      fields: { isComplete: false },
    });
  });

  test('a sweep ends by itself after four minutes', async () => {
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

  test('a sweep logs its work in one line', async () => {
    const bench = sweepBench();
    await buildDue(bench);

    await sweep(bench);

    expect(bench.logged).toEqual([
      {
        severity: 'INFO',
        event: 'sweep_finished',
        fields: {
          turnsClosed: 0,
          requestsPublished: 1,
          requestsDropped: 0,
          conversationsErased: 0,
          erasuresHandedOver: 0,
          erasuresFinished: 0,
          tombstonesDropped: 0,
          failed: 0,
          isComplete: true,
          durationMs: 0,
        },
      },
    ]);
  });

  test('a sweep that finds nothing changes nothing', async () => {
    const bench = sweepBench();
    const { conversationId } = await buildConversation(bench.store, { turns: 3 });
    const [before] = await bench.store.get([conversationPath(conversationId)]);

    await sweep(bench);

    expect(await bench.store.get([conversationPath(conversationId)])).toEqual([before]);
  });

  test('two parallel sweeps repair once', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));

    const both = await Promise.all([sweep(bench), sweep(bench)]);

    expect(both.reduce((sum, { turnsClosed }) => sum + turnsClosed, 0)).toBe(1);
    expect(both.map(({ failed }) => failed)).toEqual([0, 0]);
    expect(await statesFrom(bench, conversationId, [3])).toEqual(['failed']);
  });
});
