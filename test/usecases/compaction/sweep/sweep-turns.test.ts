import { describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { streamChunkWrite } from '#shared/conversation/documents/stream-chunk.ts';
import {
  addQueued,
  buildOpen,
  storedConversation,
  inSeconds,
  statesFrom,
  sweep,
  sweepBench,
} from '#test/support/compaction/sweeping.ts';

describe('an open turn that nobody answers', () => {
  test('a sweep closes an unanswered open turn as failed, freeing the conversation', async () => {
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
    expect((await storedConversation(bench, conversationId))?.open).toBeUndefined();
  });

  test.each([
    ['failed', {}],
    ['cancelled', { cancelRequested: true }],
  ])(
    'a turn closed by a sweep is reported as %s where notifications are on',
    async (state, fields) => {
      const bench = sweepBench({
        config: parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap', FCM_PROJECT: 'demo-recap' }),
      });
      const conversationId = await buildOpen(bench, inSeconds(bench, -1));
      const path = turnPath(conversationId, 3);
      await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);

      await sweep(bench);

      expect(bench.published).toMatchObject([
        {
          topic: 'events',
          data: { type: 'turn.finished', conversationId, turnId: 't_3', state, isAttended: false },
        },
      ]);
    },
  );

  test('a turn closed by a sweep may still be answered when its phone returns', async () => {
    const bench = sweepBench();
    const last = await buildOpen(bench, inSeconds(bench, -1));
    const followed = await buildOpen(bench, inSeconds(bench, -1));
    await addQueued(bench, followed, [inSeconds(bench, 60)]);

    await sweep(bench);

    const errorOf = async (id: string) =>
      (await readTurns(bench.store, id, [3])).map(({ value }) => value.error?.retryable);
    expect(await errorOf(last)).toEqual([true]);
    expect(await errorOf(followed)).toEqual([true]);
  });

  test('a sweep closes a turn as cancelled when that was requested', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    const path = turnPath(conversationId, 3);
    const fields = { cancelRequested: true };
    await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);

    await sweep(bench);

    expect(await statesFrom(bench, conversationId, [3])).toEqual(['cancelled']);
  });

  test('a turn closed as cancelled by a sweep keeps its text', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    const path = turnPath(conversationId, 3);
    const fields = { cancelRequested: true };
    const delta = { type: 'text-delta', id: 'p0', delta: 'Half an answer' } as const;
    await bench.store.commit([
      { op: 'update', path, fields, guard: { exists: true } },
      streamChunkWrite({
        conversationId,
        seq: 3,
        attempt: 1,
        producer: 'gone',
        frames: [{ id: 0, chunk: delta }],
        end: undefined,
        now: new Date(0),
      }),
    ]);

    await sweep(bench);

    const [turn] = await readTurns(bench.store, conversationId, [3]);
    expect(turn?.value).toMatchObject({ state: 'cancelled', inContext: true });
    expect(turn?.value.contents.map(contentText)).toEqual(['Half an answer']);
  });

  test('a sweep leaves a turn whose lease is renewed, whatever the conversation document says', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -60));
    const path = turnPath(conversationId, 3);
    const fields = { leaseUntil: inSeconds(bench, 10) };
    await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);

    const counts = await sweep(bench);

    expect(counts.turnsClosed).toBe(0);
    expect(await statesFrom(bench, conversationId, [3])).toEqual(['running']);
    expect((await storedConversation(bench, conversationId))?.open?.seq).toBe(3);
  });

  test('a sweep leaves a turn taken over between its read and its commit', async () => {
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
  test('a sweep closes abandoned waiting messages up to the first with a waiter', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, -1));
    const held = inSeconds(bench, 20);
    await addQueued(bench, conversationId, [inSeconds(bench, -5), inSeconds(bench, -5), held]);

    const counts = await sweep(bench);

    const conversation = await storedConversation(bench, conversationId);
    expect(counts.turnsClosed).toBe(3);
    expect(await statesFrom(bench, conversationId, [3, 4, 5, 6])).toEqual([
      'failed',
      'failed',
      'failed',
      'queued',
    ]);
    expect(conversation?.queue).toEqual({ first: 6, leaseUntil: held });
    expect(conversation?.open).toBeUndefined();
  });

  test('a sweep leaves waiting messages two seconds after their lease', async () => {
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

  test('a sweep leaves no queue when nobody waits', async () => {
    const bench = sweepBench();
    const conversationId = await buildOpen(bench, inSeconds(bench, 20));
    await addQueued(bench, conversationId, [inSeconds(bench, -5), inSeconds(bench, -5)]);

    await sweep(bench);

    const conversation = await storedConversation(bench, conversationId);
    expect(conversation?.queue).toBeUndefined();
    expect(conversation?.open?.seq).toBe(3);
    expect(await statesFrom(bench, conversationId, [3, 4, 5])).toEqual([
      'running',
      'failed',
      'failed',
    ]);
  });
});
