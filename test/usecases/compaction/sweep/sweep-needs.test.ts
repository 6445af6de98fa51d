import { describe, expect, test } from 'vitest';
import { compactionJobPath, headPath } from '#shared/conversation/documents/paths.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import {
  autoNeed,
  buildDue,
  compactOnce,
  manualNeed,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { modelDown } from '#test/support/model-down.ts';
import { inSeconds, sweep, sweepBench } from '#test/support/compaction/sweeping.ts';

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
    await bench.store.commit([{ op: 'create', path, fields: { schemaVersion: 1 } }]);

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
