import { describe, expect, test } from 'vitest';
import { eraseConversation } from '#functions/worker/push/erase-conversation.ts';
import { neverAborted } from '#test/support/compaction/compacted-conversation.ts';
import { buildMany, sweepOnePage, toldOf } from '#test/support/stores/many-conversations.ts';
import {
  buildOpen,
  storedConversation,
  inSeconds,
  quiet,
  sweep,
  sweepBench,
} from '#test/support/compaction/sweeping.ts';

/** Pages of a list have 100 conversations. */
const PAGE = 100;

/** Needs that have waited for an hour and less, the oldest first. */
const buildRequests = (bench: ReturnType<typeof sweepBench>, count: number) =>
  buildMany(bench.store, count, (index) => ({
    compactionRequests: {
      auto: {
        requestId: `r${index}`,
        since: inSeconds(bench, index / 100 - 3_600),
        trigger: 'auto',
      },
    },
  }));

describe('compaction requests of many conversations', () => {
  test('interrupted sweeps publish every request before one is published again', async () => {
    const bench = sweepBench();
    const ids = await buildRequests(bench, 2_000);

    // The next sweep begins with the last one again: another may have waited since the same moment.
    const sweeps = Math.ceil((2_000 - 1) / (PAGE - 1));
    for (let i = 0; i < sweeps; i++) await sweepOnePage(bench);
    const told = toldOf(bench, 'compact').slice(0, 2_000 + sweeps - 1);

    expect([...new Set(told)]).toEqual(ids);
  });

  test('requests beyond one sweep’s capacity are continued by the next one', async () => {
    const bench = sweepBench();
    const ids = await buildRequests(bench, 10_050);

    const counts = [await sweep(bench), await sweep(bench)];

    expect(counts.map(({ requestsPublished }) => requestsPublished)).toEqual([10_000, 10_000]);
    expect(new Set(toldOf(bench, 'compact')).size).toBe(10_050);
    expect(toldOf(bench, 'compact').slice(10_000, 10_052)).toEqual([...ids.slice(9_999), ids[0]]);
  }, 60_000);

  test('every sweep that reaches the end restarts from the oldest request', async () => {
    const bench = sweepBench();
    const ids = await buildRequests(bench, 250);

    await sweep(bench);
    await sweep(bench);

    expect(toldOf(bench, 'compact')).toEqual([...ids, ...ids]);
  });
});

describe('many abandoned turns', () => {
  const buildAbandoned = async (bench: ReturnType<typeof sweepBench>, count: number) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push(await buildOpen(bench, inSeconds(bench, -count + i)));
    return ids;
  };

  test('interrupted sweeps still close all abandoned turns', async () => {
    const bench = sweepBench();
    const ids = await buildAbandoned(bench, 2_500);

    const closed: number[] = [];
    for (let sweeps = 0; sweeps < 5; sweeps++) closed.push((await sweepOnePage(bench)).turnsClosed);

    const conversationDocuments = await Promise.all(ids.map((id) => storedConversation(bench, id)));
    expect(conversationDocuments.filter((conversation) => conversation?.open)).toEqual([]);
    // A page of each shard at the first.
    expect(closed[0]).toBeGreaterThan(5 * PAGE);
    expect(closed.reduce((sum, one) => sum + one)).toBe(2_500);
  }, 60_000);

  test('many abandoned turns leave a sweep time for requests and erasures', async () => {
    const bench = sweepBench();
    await buildAbandoned(bench, 1_500);
    const [due] = await buildRequests(bench, 1);
    const [expired = ''] = await buildMany(bench.store, 1, () => ({
      expireTime: inSeconds(bench, -1),
    }));

    const counts = await sweepOnePage(bench);

    expect(counts.turnsClosed).toBeLessThan(1_500);
    expect(toldOf(bench, 'compact')).toEqual([due]);
    expect((await storedConversation(bench, expired))?.state).toBe('erased');
  });
});

describe('many conversations that expire together', () => {
  const buildExpired = (bench: ReturnType<typeof sweepBench>, count: number) =>
    buildMany(bench.store, count, (index) => ({
      ...quiet,
      expireTime: inSeconds(bench, index / 100 - 3_600),
    }));

  test('a sweep erases up to a hundred expired conversations and hands workers the rest once', async () => {
    const bench = sweepBench();
    const ids = await buildExpired(bench, 350);

    const counts = await sweep(bench);
    const told = toldOf(bench, 'erase');
    for (const id of told) await eraseConversation(bench, id, neverAborted());

    const states = await Promise.all(
      ids.map(async (id) => (await storedConversation(bench, id))?.state),
    );
    expect(counts.conversationsErased + counts.erasuresHandedOver).toBe(350);
    expect(counts.conversationsErased).toBeLessThan(110);
    expect(new Set(told).size).toBe(told.length);
    expect(new Set(states)).toEqual(new Set(['erased']));
  });

  test('interrupted sweeps still erase or hand over all expired conversations', async () => {
    const bench = sweepBench();
    const ids = await buildExpired(bench, 1_000);

    for (let sweeps = 0; sweeps < 12; sweeps++) {
      const before = toldOf(bench, 'erase').length;
      await sweepOnePage(bench);
      for (const id of toldOf(bench, 'erase').slice(before))
        await eraseConversation(bench, id, neverAborted());
    }

    const states = await Promise.all(
      ids.map(async (id) => (await storedConversation(bench, id))?.state),
    );
    expect(states.filter((state) => state !== 'erased')).toEqual([]);
  }, 60_000);
});
