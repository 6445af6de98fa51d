import { describe, expect, test } from 'vitest';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { modelDown } from '#test/support/model-down.ts';
import { inSeconds, sweep, sweepBench } from '#test/support/compaction/sweeping.ts';

describe('a compaction request before a sweep', () => {
  test('a sweep republishes a compaction request that waits for a minute', async () => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench);

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ requestsPublished: 1, failed: 0 });
    expect(bench.published).toEqual([
      { topic: 'compaction', data: { schemaVersion: 1, conversationId, requestId: 'request-1' } },
    ]);
  });

  test('a sweep publishes a person’s request before older automatic ones', async () => {
    const bench = sweepBench();
    await buildDue(bench, { turns: 1 });
    const asked = await buildDue(bench, {
      turns: 1,
      conversation: { compactionRequests: manualRequest() },
    });

    await sweep(bench);

    expect(bench.published).toHaveLength(2);
    expect(bench.published[0]?.data).toMatchObject({ conversationId: asked });
  });

  test('a sweep publishes one event for two requests of one conversation', async () => {
    const bench = sweepBench();
    await buildDue(bench, {
      conversation: { compactionRequests: { ...autoRequest(), ...manualRequest() } },
    });

    expect((await sweep(bench)).requestsPublished).toBe(1);
  });

  test('a sweep leaves a request alone while its event is on its way', async () => {
    const bench = sweepBench();
    const since = inSeconds(bench, -59);
    await buildDue(bench, {
      conversation: { compactionRequests: { auto: { requestId: 'r', since, trigger: 'auto' } } },
    });

    expect((await sweep(bench)).requestsPublished).toBe(0);
  });

  test('a sweep republishes a request once the model may be called again', async () => {
    const bench = sweepBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    bench.published.length = 0;

    const early = await sweep(bench);
    bench.clock.advance(46_000);
    const late = await sweep(bench);

    expect([early.requestsPublished, late.requestsPublished]).toEqual([0, 1]);
  });

  test('a sweep leaves a request alone while a worker holds its lease', async () => {
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

    expect([early.requestsPublished, late.requestsPublished]).toEqual([0, 1]);
  });

  test('a sweep settles a deleted conversation’s request and records the reason', async () => {
    const bench = sweepBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const path = conversationPath(conversationId);
    const fields = { state: 'deleted' };
    await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);
    bench.published.length = 0;

    const counts = await sweep(bench);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(counts).toMatchObject({ requestsDropped: 1, requestsPublished: 0 });
    expect(conversation.compactionRequests).toEqual({});
    expect(job?.records.at(-1)).toMatchObject({ state: 'NOOP', reason: 'NOT_LIVE' });
    expect(bench.published).toEqual([]);
  });

  test.each(['forking', 'erasing', 'erased'] as const)(
    'a sweep does not publish a request of a conversation that is %s',
    async (state) => {
      const bench = sweepBench();
      await buildDue(bench, { conversation: { state, createTime: bench.clock.now() } });

      expect(await sweep(bench)).toMatchObject({ requestsPublished: 0, requestsDropped: 0 });
    },
  );

  test('a sweep republishes a request a bounded number of times, then records a reason', async () => {
    const bench = sweepBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);

    const published: number[] = [];
    for (let round = 0; round < 6; round++) {
      published.push((await sweep(bench)).requestsPublished);
      await compactOnce(bench, conversationId);
      bench.clock.advance(10 * 60_000);
    }

    const { conversation, job } = await see(bench.store, conversationId);
    expect(published).toEqual([1, 1, 1, 0, 0, 0]);
    expect(conversation.compactionRequests).toEqual({});
    expect(job?.records.at(-1)).toMatchObject({ state: 'FAILED_ERROR' });
  });

  test('a request that no worker can serve is given up after a day with the reason', async () => {
    const bench = sweepBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    bench.clock.advance(25 * 60 * 60_000);

    const counts = await sweep(bench);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(counts).toMatchObject({ requestsDropped: 1, requestsPublished: 0 });
    expect(conversation.compactionRequests).toEqual({});
    expect(job?.records.at(-1)).toMatchObject({ state: 'FAILED_ERROR', reason: 'NOT_SERVED' });
  });

  test('a request whose job is unreadable is published for a day, then given up', async () => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench);
    const path = compactionJobPath(conversationId);
    await bench.store.commit([{ op: 'create', path, fields: { schemaVersion: 1 } }]);

    const first = await sweep(bench);
    bench.clock.advance(25 * 60 * 60_000);
    const second = await sweep(bench);

    expect(first).toMatchObject({ requestsPublished: 1, requestsDropped: 0 });
    expect(second).toMatchObject({ requestsPublished: 0, requestsDropped: 1 });
    expect(bench.logged).toContainEqual(
      expect.objectContaining({
        event: 'compaction_request_dropped',
        fields: expect.objectContaining({ reason: 'NOT_SERVED', conversationId }),
      }),
    );
  });
});
