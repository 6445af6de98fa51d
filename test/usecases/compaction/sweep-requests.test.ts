import { eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import type { DocumentStore, Query } from '#shared/ports/ports.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
  type CompactionBench,
  actingAt,
  inSeconds,
  sweep,
  sweepBench,
  neverAborted,
  buildOpen,
  quiet,
  storedConversation,
} from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { modelDown } from '#test/support/model-down.ts';
import { describe, expect, test } from 'vitest';

/** So many conversations without turns, whose documents are as `documentOf` says; their ids in order. */
async function buildMany(
  { store }: CompactionBench,
  count: number,
  documentOf: (index: number) => Partial<Conversation>,
): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const conversation = documentOf(index);
    ids.push((await buildConversation(store, { turns: 0, conversation })).conversationId);
  }
  return ids;
}

/** A sweep whose time is up as soon as any of its lists goes on to a second page. */
function sweepOnePage(bench: CompactionBench) {
  const controller = new AbortController();
  const query = (asked: Query) => {
    if (asked.startAfter) controller.abort();
    return bench.store.query(asked);
  };
  return runSweep({ ...bench, store: { ...bench.store, query } }, controller.signal);
}

/** Conversation ids of the events of a kind that were published, in order. */
const toldOf = (bench: CompactionBench, kind: 'compact' | 'erase'): string[] =>
  bench.published.flatMap(({ data }) =>
    'conversationId' in data && ('kind' in data ? data.kind : 'compact') === kind
      ? [String(data.conversationId)]
      : [],
  );

const down = () => sweepBench({ model: createScriptedModel({ answers: [modelDown()] }) });

const publishing = (publish: () => Promise<void>) => sweepBench({ publisher: { publish } });

describe('a compaction request before a sweep', () => {
  test('a sweep republishes a compaction request that waits for a minute, and logs its work in one line', async () => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench);

    await sweep(bench);

    expect(bench.published).toEqual([
      { topic: 'compaction', data: { schemaVersion: 1, conversationId, requestId: 'request-1' } },
    ]);
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
          afterTurnsRun: 0,
          erasuresFinished: 0,
          tombstonesDropped: 0,
          claimsFinished: 0,
          failed: 0,
          isComplete: true,
          durationMs: 0,
        },
      },
    ]);
  });

  test('a sweep publishes one event a conversation, a person’s request before older automatic ones', async () => {
    const bench = sweepBench();
    const due = await buildDue(bench, { turns: 1 });
    const asked = await buildDue(bench, {
      turns: 1,
      conversation: { compactionRequests: { ...autoRequest(), ...manualRequest() } },
    });

    await sweep(bench);

    expect(toldOf(bench, 'compact')).toEqual([asked, due]);
    expect(bench.published[0]?.data).toMatchObject({ requestId: 'request-m' });
  });

  test.each<[string, (bench: CompactionBench) => Partial<Conversation>]>([
    [
      'whose event is on its way',
      (bench) => ({
        compactionRequests: {
          auto: { requestId: 'r', since: inSeconds(bench, -59), trigger: 'auto' },
        },
      }),
    ],
    [
      'of a conversation that is forking',
      (bench) => ({ state: 'forking', createTime: bench.clock.now() }),
    ],
    ['of a conversation that is erasing', () => ({ state: 'erasing' })],
    ['of a conversation that is erased', () => ({ state: 'erased' })],
  ])('a sweep leaves a request alone: one %s', async (_, conversation) => {
    const bench = sweepBench();
    await buildDue(bench, { conversation: conversation(bench) });

    expect(await sweep(bench)).toMatchObject({ requestsPublished: 0, requestsDropped: 0 });
  });

  test.each([
    ['while the model is to be left alone', 46_000, compactOnce],
    [
      'while a worker holds its lease',
      61_000,
      (bench: CompactionBench, id: string) =>
        compactOnce(
          actingAt(bench, 'claimed', () => Promise.reject(new Error('died'))),
          id,
        ).catch(() => undefined),
    ],
  ])('a sweep leaves a request alone %s, and republishes it then', async (...[, ms, attempt]) => {
    const bench = down();
    await attempt(bench, await buildDue(bench));

    const early = await sweep(bench);
    bench.clock.advance(ms);
    const late = await sweep(bench);

    expect([early.requestsPublished, late.requestsPublished]).toEqual([0, 1]);
  });

  test.each([
    ['of a deleted conversation', 'deleted', 0, { state: 'NOOP', reason: 'NOT_LIVE' }],
    [
      'that no worker served for a day',
      'live',
      25,
      { state: 'FAILED_ERROR', reason: 'NOT_SERVED' },
    ],
  ])('a sweep settles a request and records the reason: one %s', async (...row) => {
    const [, state, hours, expected] = row;
    const bench = down();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    await setConversation(bench, conversationId, { state });
    bench.clock.advance(hours * 60 * 60_000);

    const counts = await sweep(bench);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(counts).toMatchObject({ requestsDropped: 1, requestsPublished: 0 });
    expect(conversation.compactionRequests).toEqual({});
    expect(job?.records.at(-1)).toMatchObject(expected);
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
  expect(new Set(toldOf(bench, 'compact'))).toEqual(new Set(ids));
  expect(JSON.stringify(bench.logged)).not.toContain('broken-');
});

test('a sweep does the rest when one query fails', async () => {
  const memory = createMemoryDocumentStore();
  const query: DocumentStore['query'] = (asked) =>
    asked.orderBy?.field === 'open.leaseUntil'
      ? Promise.reject(new StoreUnavailableError({ operation: 'query' }))
      : memory.query(asked);
  const bench = sweepBench({ store: { ...memory, query } });
  await buildDue(bench);

  expect(await sweep(bench)).toMatchObject({ requestsPublished: 1, failed: 1 });
  expect(bench.logged).toContainEqual({
    severity: 'WARNING',
    event: 'sweep_failed',
    fields: { pass: 'turns', error: 'StoreUnavailableError', reason: 'STORE_UNAVAILABLE' },
  });
});

test.each([
  ['when its time is up', (stop: AbortController) => stop.abort()],
  [
    'by itself after four minutes',
    (_: AbortController, bench: CompactionBench) => bench.clock.advance(240_000),
  ],
])('a sweep ends %s, and reports that it is incomplete', async (_, end) => {
  const stop = new AbortController();
  const bench = publishing(() => Promise.resolve(end(stop, bench)));
  for (let i = 0; i < 30; i++) await buildDue(bench, { turns: 1 });

  const counts = await runSweep(bench, stop.signal);

  expect(counts.requestsPublished).toBeLessThan(30);
  expect(bench.logged.at(-1)).toMatchObject({
    event: 'sweep_finished',
    fields: { isComplete: false, failed: 0 },
  });
});

/** Pages of a list have 100 conversations. */
const PAGE = 100;

/** Requests that have waited for an hour and less, the oldest first. */
const buildRequests = (bench: CompactionBench, count: number) =>
  buildMany(bench, count, (index) => ({
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

test('interrupted sweeps publish every request before one is published again', async () => {
  const bench = sweepBench();
  const ids = await buildRequests(bench, 450);

  // The next sweep begins with the last one again: another may have waited since the same moment.
  const sweeps = Math.ceil((450 - 1) / (PAGE - 1));
  for (let i = 0; i < sweeps; i++) await sweepOnePage(bench);

  const told = toldOf(bench, 'compact').slice(0, 450 + sweeps - 1);
  expect([...new Set(told)]).toEqual(ids);
});

test('interrupted sweeps close all abandoned turns, and have time for requests and erasures', async () => {
  const bench = sweepBench();
  const ids: string[] = [];
  for (let i = 0; i < 250; i++) ids.push(await buildOpen(bench, inSeconds(bench, i - 250)));
  for (const id of ids) await setConversation(bench, id, { sweepShard: 0 });
  const [due] = await buildRequests(bench, 1);
  const expired = await buildMany(bench, 1, () => ({ expireTime: inSeconds(bench, -1) }));

  const closed = [(await sweepOnePage(bench)).turnsClosed];

  expect(closed[0]).toBe(PAGE);
  expect(toldOf(bench, 'compact')).toEqual([due]);
  expect(await statesOf(bench, expired)).toEqual(['erased']);
  for (let sweeps = 1; sweeps < 3; sweeps++) closed.push((await sweepOnePage(bench)).turnsClosed);
  expect(closed.reduce((sum, one) => sum + one)).toBe(250);
  const conversations = await Promise.all(ids.map((id) => storedConversation(bench, id)));
  expect(conversations.filter((conversation) => conversation?.open)).toEqual([]);
});

const buildExpired = (bench: CompactionBench, count: number) =>
  buildMany(bench, count, (index) => ({
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
