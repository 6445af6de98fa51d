import { userText } from '#test/support/compaction/conversation-builder.ts';
import { newTurnWrites } from '#shared/conversation/writes/turn-writes.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { turnPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { streamChunkWrite } from '#shared/wire/stream-chunk.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import { configOf } from '#test/support/chat/lifecycle.ts';
import {
  type CompactionBench,
  buildOpen,
  inSeconds,
  storedConversation,
  sweep,
  sweepBench,
  buildDue,
  quiet,
  updateDocument,
} from '#test/support/compaction/compacted-conversation.ts';
import { describe, expect, test } from 'vitest';

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
  const path = conversationPath(conversationId);
  await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }, ...writes]);
}

const statesFrom = async (bench: CompactionBench, conversationId: string, seqs: number[]) =>
  (await readTurns(bench.store, conversationId, seqs)).map(({ value }) => value.state);

const chunk = (conversationId: string) =>
  streamChunkWrite({
    conversationId,
    seq: 3,
    attempt: 1,
    producer: 'gone',
    frames: [{ id: 0, chunk: { type: 'text-delta', id: 'p0', delta: 'Half an answer' } }],
    end: undefined,
    now: new Date(0),
  });

const setTurn = (bench: CompactionBench, conversationId: string, fields: DocumentFields) =>
  updateDocument(bench.store, turnPath(conversationId, 3), fields);

describe('an open turn that nobody answers', () => {
  test('a sweep closes an unanswered open turn as failed, to be tried again, freeing the conversation', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));

    const counts = await sweep(bench);

    const [turn] = await readTurns(bench.store, conversationId, [3]);
    expect(counts).toMatchObject({ turnsClosed: 1, failed: 0 });
    expect(turn?.value).toMatchObject({
      state: 'failed',
      error: { reason: 'TURN_ABANDONED', retryable: true },
      inContext: false,
    });
    expect((await storedConversation(bench, conversationId))?.open).toBeUndefined();
  });

  test('a sweep closes a turn as cancelled, with its text, when that was requested', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    await setTurn(bench, conversationId, { cancelRequested: true });
    await bench.store.commit([chunk(conversationId)]);

    await sweep(bench);

    const [turn] = await readTurns(bench.store, conversationId, [3]);
    expect(turn?.value).toMatchObject({ state: 'cancelled', inContext: true });
    expect(turn?.value.contents.map(contentText)).toEqual(['Half an answer']);
  });

  test.each([
    ['failed', {}],
    ['cancelled', { cancelRequested: true }],
  ])('a turn closed by a sweep is reported as %s where notifications are on', async (...row) => {
    const [state, fields] = row;
    const bench = sweepBench({ config: configOf('ledger', { FCM_PROJECT: 'demo-recap' }) });
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    await setTurn(bench, conversationId, fields);

    await sweep(bench);

    const data = { type: 'turn.finished', conversationId, turnId: 't_3', state, isAttended: false };
    expect(bench.published).toMatchObject([{ topic: 'events', data }]);
  });

  test('a sweep leaves a turn taken over between its read and its commit', async () => {
    const taken: string[] = [];
    const store = createMemoryDocumentStore({
      beforeOperation: async (operation) => {
        if (operation.name !== 'commit' || taken.length > 0) return;
        if (!operation.writes.some(({ op, path }) => op === 'update' && path.includes('/turns/')))
          return;
        taken.push(conversationId);
        await setTurn(bench, conversationId, { leaseUntil: inSeconds(bench, 20), attempt: 2 });
      },
    });
    const bench = sweepBench({ store });
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));

    const counts = await sweep(bench);

    expect(taken).toHaveLength(1);
    expect(counts).toMatchObject({ turnsClosed: 0, failed: 0 });
    expect(await statesFrom(bench, conversationId, [3])).toEqual(['running']);
  });
});

describe('messages that wait', () => {
  test('a sweep closes abandoned waiting messages up to the first with a waiter', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    const held = inSeconds(bench, 20);
    await addQueued(bench, conversationId, [inSeconds(bench, -5), inSeconds(bench, -5), held]);

    await sweep(bench);

    const conversation = await storedConversation(bench, conversationId);
    const states = await statesFrom(bench, conversationId, [3, 4, 5, 6]);
    expect(states).toEqual(['failed', 'failed', 'failed', 'queued']);
    expect(conversation?.queue).toEqual({ first: 6, leaseUntil: held });
    expect(conversation?.open).toBeUndefined();
    expect(conversation?.answered).toMatchObject({ seq: 5, state: 'failed' });
  });

  test('a sweep leaves no queue when nobody waits behind a turn that goes on', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, 20));
    await addQueued(bench, conversationId, [inSeconds(bench, -5), inSeconds(bench, -5)]);

    await sweep(bench);

    const conversation = await storedConversation(bench, conversationId);
    expect(conversation?.queue).toBeUndefined();
    expect(conversation?.open?.seq).toBe(3);
    const states = await statesFrom(bench, conversationId, [3, 4, 5]);
    expect(states).toEqual(['running', 'failed', 'failed']);
    // The answer before them is told of when it ends.
    expect(conversation?.answered).toBeUndefined();
  });
});

/** How many documents there are below a conversation. */
const countBelow = async (bench: CompactionBench, conversationId: string) => {
  const collections = ['turns', 'messages', 'histories', 'jobs', 'public', 'blobs'];
  const found = await Promise.all(
    collections.map((name) =>
      bench.store.query({ collection: `${conversationPath(conversationId)}/${name}`, limit: 500 }),
    ),
  );
  return found.flat().length;
};

describe('what is to be erased', () => {
  test.each<[string, (bench: CompactionBench) => Partial<Conversation>]>([
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
  ])('a conversation that %s is erased by a sweep to its tombstone', async (_, conversation) => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench, {
      turns: 3,
      conversation: { ...conversation(bench), ...quiet },
    });

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ conversationsErased: 1, failed: 0 });
    expect(await countBelow(bench, conversationId)).toBe(0);
    expect((await storedConversation(bench, conversationId))?.state).toBe('erased');
  });

  test.each<[string, (bench: CompactionBench) => Partial<Conversation>]>([
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
  ])('a conversation that %s is not erased by a sweep', async (_, conversation) => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench, { turns: 3, conversation: conversation(bench) });

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ conversationsErased: 0, failed: 0 });
    expect(await countBelow(bench, conversationId)).toBe(6);
  });

  test('a sweep removes a tombstone at its expiry, not before', async () => {
    const bench = sweepBench();
    const conversationId = await buildDue(bench, { turns: 3, conversation: { state: 'erasing' } });
    await sweep(bench);

    bench.clock.advance(29 * 24 * 60 * 60_000);
    const early = await sweep(bench);
    bench.clock.advance(2 * 24 * 60 * 60_000);
    const late = await sweep(bench);

    expect([early.tombstonesDropped, late.tombstonesDropped]).toEqual([0, 1]);
    expect(await storedConversation(bench, conversationId)).toBeUndefined();
  });

  test('a sweep finishes an abandoned erasure of a turn', async () => {
    const bench = sweepBench();
    const since = inSeconds(bench, -61);
    const conversationId = await buildDue(bench, {
      turns: 3,
      conversation: { pendingErasure: { since, seqs: [2] }, ...quiet },
    });

    const counts = await sweep(bench);

    expect(counts).toMatchObject({ erasuresFinished: 1, failed: 0 });
    expect((await storedConversation(bench, conversationId))?.pendingErasure).toBeUndefined();
  });
});
