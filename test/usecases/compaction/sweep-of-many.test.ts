import { eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { fieldAt } from '#shared/store/many-documents.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import {
  neverAborted,
  type CompactionBench,
  buildOpen,
  inSeconds,
  quiet,
  storedConversation,
  sweep,
  sweepBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { buildMany, sweepOnePage, toldOf } from '#test/support/stores/many-conversations.ts';
import { describe, expect, test } from 'vitest';

/** Pages of a list have 100 conversations. */
const PAGE = 100;

/** Requests that have waited for an hour and less, the oldest first. */
const buildRequests = (bench: CompactionBench, count: number) =>
  buildMany(bench.store, count, (index) => ({
    compactionRequests: {
      auto: {
        requestId: `r${index}`,
        since: inSeconds(bench, index / 100 - 3_600),
        trigger: 'auto',
      },
    },
  }));

const statesOf = (bench: CompactionBench, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await storedConversation(bench, id))?.state));

describe('compaction requests of many conversations', () => {
  test('interrupted sweeps publish every request before one is published again', async () => {
    const bench = sweepBench();
    const ids = await buildRequests(bench, 450);

    // The next sweep begins with the last one again: another may have waited since the same moment.
    const sweeps = Math.ceil((450 - 1) / (PAGE - 1));
    for (let i = 0; i < sweeps; i++) await sweepOnePage(bench);

    const told = toldOf(bench, 'compact').slice(0, 450 + sweeps - 1);
    expect([...new Set(told)]).toEqual(ids);
  });

  test('requests beyond one sweep’s capacity are continued by the next one', async () => {
    const bench = sweepBench();
    const ids = await buildRequests(bench, 10_050);
    const documents = (await bench.store.get(ids.map(conversationPath))).flatMap(
      (document) => document ?? [],
    );
    /** As the store answers, from a list that is in order already. */
    const query: DocumentStore['query'] = (asked) => {
      if (asked.orderBy?.field !== 'compactionRequests.auto.since') return bench.store.query(asked);
      const places = (asked.where ?? []).map(({ op, value }) => [op, Number(value)] as const);
      const found = documents.filter(({ fields }) => {
        const since = Number(fieldAt(fields, 'compactionRequests.auto.since'));
        return places.every(([op, place]) => (op === '<' ? since < place : since >= place));
      });
      const start = found.findIndex(({ path }) => path === asked.startAfter?.path) + 1;
      return Promise.resolve(found.slice(start, start + asked.limit));
    };
    const sorted = { ...bench, store: { ...bench.store, query } };

    const counts = [await sweep(sorted), await sweep(sorted)];

    expect(counts.map(({ requestsPublished }) => requestsPublished)).toEqual([10_000, 10_000]);
    expect(new Set(toldOf(bench, 'compact')).size).toBe(10_050);
    expect(toldOf(bench, 'compact').slice(10_000, 10_052)).toEqual([...ids.slice(9_999), ids[0]]);
  }, 60_000);

  test('every sweep that reaches the end restarts from the oldest request', async () => {
    const bench = sweepBench();
    const ids = await buildRequests(bench, 150);

    await sweep(bench);
    await sweep(bench);

    expect(toldOf(bench, 'compact')).toEqual([...ids, ...ids]);
  });
});

test('interrupted sweeps close all abandoned turns, and have time for requests and erasures', async () => {
  const bench = sweepBench();
  const ids: string[] = [];
  for (let i = 0; i < 250; i++) ids.push(await buildOpen(bench, inSeconds(bench, i - 250)));
  for (const id of ids) await setConversation(bench, id, { sweepShard: 0 });
  const [due] = await buildRequests(bench, 1);
  const expired = await buildMany(bench.store, 1, () => ({ expireTime: inSeconds(bench, -1) }));

  const closed = [(await sweepOnePage(bench)).turnsClosed];

  expect(closed[0]).toBe(PAGE);
  expect(toldOf(bench, 'compact')).toEqual([due]);
  expect(await statesOf(bench, expired)).toEqual(['erased']);
  for (let sweeps = 1; sweeps < 3; sweeps++) closed.push((await sweepOnePage(bench)).turnsClosed);
  expect(closed.reduce((sum, one) => sum + one)).toBe(250);
  const conversations = await Promise.all(ids.map((id) => storedConversation(bench, id)));
  expect(conversations.filter((conversation) => conversation?.open)).toEqual([]);
});

describe('many conversations that expire together', () => {
  const buildExpired = (bench: CompactionBench, count: number) =>
    buildMany(bench.store, count, (index) => ({
      ...quiet,
      expireTime: inSeconds(bench, index / 100 - 3_600),
    }));
  const eraseTold = async (bench: CompactionBench, from = 0) => {
    for (const id of toldOf(bench, 'erase').slice(from))
      await eraseConversation(bench, id, neverAborted());
  };

  test('a sweep erases up to a hundred expired conversations and hands workers the rest once', async () => {
    const bench = sweepBench();
    const ids = await buildExpired(bench, 350);

    const counts = await sweep(bench);
    const told = toldOf(bench, 'erase');
    await eraseTold(bench);

    expect(counts.conversationsErased + counts.erasuresHandedOver).toBe(350);
    expect(counts.conversationsErased).toBeLessThan(110);
    expect(new Set(told).size).toBe(told.length);
    expect(new Set(await statesOf(bench, ids))).toEqual(new Set(['erased']));
  });

  test('interrupted sweeps still erase or hand over all expired conversations', async () => {
    const bench = sweepBench();
    const ids = await buildExpired(bench, 350);

    for (let sweeps = 0; sweeps < 5; sweeps++) {
      const before = toldOf(bench, 'erase').length;
      await sweepOnePage(bench);
      await eraseTold(bench, before);
    }

    expect(new Set(await statesOf(bench, ids))).toEqual(new Set(['erased']));
  });
});
