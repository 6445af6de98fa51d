import { describe, expect, test } from 'vitest';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { addTurn } from '#test/support/compaction/conversation-builder.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import { historiesOf } from '#test/support/compaction/stored-histories.ts';

const START = new Date('2026-01-02T03:04:05.000Z');
const TEN_MINUTES_MS = 10 * 60_000;

/** An instance with a clock and a model of its own over the same documents. */
const instance = (
  bench: CompactionBench,
  own: { skewMs?: number; model?: CompactionBench['model'] } = {},
) =>
  compactionBench({
    ...bench,
    clock: createManualClock(new Date(START.getTime() + (own.skewMs ?? 0))),
    ...(own.model && { model: own.model }),
  });

async function expectOneSwap(bench: CompactionBench, conversationId: string) {
  const { conversation, job } = await see(bench.store, conversationId);
  expect(await historiesOf(bench, conversationId)).toHaveLength(1);
  expect(conversation).toMatchObject({ generation: 1, compactionRequests: {} });
  expect(job?.records.filter(({ generation }) => generation === 1)).toHaveLength(1);
}

describe('clocks that differ by ten minutes', () => {
  test('a worker whose clock is ahead takes a running lease, and swaps alone', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const ahead = instance(bench, { skewMs: TEN_MINUTES_MS });
    const overtaken = instance(bench, {
      model: createScriptedModel({
        answers: [
          async () => {
            await compactOnce(ahead, conversationId);
            return snapshotAnswer('Written by the one that lost its lease.');
          },
          snapshotAnswer('Written by the one that lost its lease.'),
        ],
      }),
    });

    const result = await compactOnce(overtaken, conversationId);

    expect(result).toMatchObject({ kind: 'retry', reason: 'LEASE_LOST' });
    expect((await see(bench.store, conversationId)).text).not.toContain('lost its lease');
    expect(await compactOnce(overtaken, conversationId)).toMatchObject({ kind: 'done' });
    await expectOneSwap(bench, conversationId);
  });

  test('a worker whose clock is behind waits for a running lease and finds the work done', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const behind = instance(bench, { skewMs: -TEN_MINUTES_MS });
    const early: unknown[] = [];
    const working = instance(bench, {
      model: createScriptedModel({
        answers: [
          async () => {
            early.push(await compactOnce(behind, conversationId));
            return snapshotAnswer();
          },
          snapshotAnswer(),
        ],
      }),
    });

    await compactOnce(working, conversationId);

    expect(early[0]).toMatchObject({ kind: 'later', reason: 'LEASE_HELD' });
    expect(await compactOnce(behind, conversationId)).toEqual({
      kind: 'done',
      reason: 'NO_REQUEST',
    });
    await expectOneSwap(bench, conversationId);
  });

  test('a lease of a worker whose clock is behind can be taken, with one swap', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const behind = instance(bench, {
      skewMs: -TEN_MINUTES_MS,
      model: createScriptedModel({
        answers: [
          async () => {
            await compactOnce(instance(bench), conversationId);
            return snapshotAnswer('Written by the one behind.');
          },
          snapshotAnswer('Written by the one behind.'),
        ],
      }),
    });

    await compactOnce(behind, conversationId);

    expect((await see(bench.store, conversationId)).text).not.toContain('one behind');
    await expectOneSwap(bench, conversationId);
  });
});

describe('deliveries', () => {
  test('five simultaneous deliveries to five workers make one swap from one worker’s calls', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const results = await Promise.all(
      Array.from({ length: 5 }, () => compactOnce(instance(bench), conversationId)),
    );

    expect(results.filter(({ kind }) => kind === 'done')).toHaveLength(1);
    expect(bench.model.calls).toHaveLength(1);
    await expectOneSwap(bench, conversationId);
  });

  test('five deliveries at once after an earlier compaction make one worker’s calls', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    for (let more = 0; more < 10; more++)
      await addTurn(bench.store, conversationId, {
        user: `More ${more}. `.repeat(40),
        answer: 'Yes.',
      });
    const manual = { requestId: 'request-2', since: bench.clock.now() };
    await setConversation(bench, conversationId, { 'compactionRequests.manual': manual });
    const calls = bench.model.calls.length;

    const results = await Promise.all(
      Array.from({ length: 5 }, () => compactOnce(instance(bench), conversationId)),
    );

    expect(results.filter(({ kind }) => kind === 'done')).toHaveLength(1);
    expect(bench.model.calls).toHaveLength(calls + 1);
  });

  test('an old request delivered hours late changes nothing', async () => {
    const bench = compactionBench();
    const ids = await Promise.all([buildDue(bench), buildDue(bench), buildDue(bench)]);
    for (const id of [...ids].toReversed()) await compactOnce(bench, id);
    const calls = bench.model.calls.length;

    bench.clock.advance(6 * 60 * 60_000);
    for (const id of [...ids, ...ids]) await compactOnce(bench, id);

    expect(bench.model.calls).toHaveLength(calls);
    for (const id of ids) await expectOneSwap(bench, id);
  });

  test('a redelivery finds a slow worker’s lease renewed', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const second: unknown[] = [];
    const slow = compactionBench({
      ...bench,
      model: createScriptedModel({
        answers: [
          async () => {
            for (let quarter = 0; quarter < 8; quarter++) {
              const before = (await see(bench.store, conversationId)).job?.leaseUntil;
              bench.clock.advance(15_000);
              await expect
                .poll(async () => (await see(bench.store, conversationId)).job?.leaseUntil)
                .not.toEqual(before);
            }
            second.push(await compactOnce(bench, conversationId));
            return snapshotAnswer();
          },
          snapshotAnswer(),
        ],
      }),
    });

    const result = await compactOnce(slow, conversationId);

    expect(second[0]).toMatchObject({ kind: 'later', reason: 'LEASE_HELD' });
    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    await expectOneSwap(bench, conversationId);
  });

  test('a redelivery takes over the work of a worker silent for hours', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const silent = instance(bench, {
      model: createScriptedModel({
        answers: [
          async () => {
            bench.clock.advance(3 * 60 * 60_000);
            await compactOnce(bench, conversationId);
            return snapshotAnswer('Written hours later.');
          },
          snapshotAnswer('Written hours later.'),
        ],
      }),
    });

    const result = await compactOnce(silent, conversationId);

    expect(result).toMatchObject({ kind: 'retry', reason: 'LEASE_LOST' });
    expect((await see(bench.store, conversationId)).text).not.toContain('hours later');
    await expectOneSwap(bench, conversationId);
  });
});
