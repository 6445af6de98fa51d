import type { CompactionCrashPoint } from '#functions/lib/crash-points.ts';
import {
  compactionJobPath,
  conversationPath,
  historyPath,
} from '#shared/conversation/documents/paths.ts';
import {
  compactAgain,
  lifecycle,
  removeMessage,
  setConversation,
  type KnownItem,
  compactedTwice,
  historiesOf,
} from '#test/support/chat/lifecycle.ts';
import {
  buildDue,
  compactOnce,
  see,
  type CompactionBench,
  actingAt,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { addTurn } from '#test/support/compaction/conversation-builder.ts';
import { describe, expect, test } from 'vitest';

/** `act` happens once a worker has come to `point`; what is stored afterwards. */
async function compactWhile(
  point: CompactionCrashPoint,
  act: (bench: CompactionBench, conversationId: string) => Promise<unknown>,
) {
  const bench = compactionBench();
  const conversationId = await buildDue(bench);
  const acting = actingAt(bench, point, () => act(bench, conversationId));
  const result = await compactOnce(acting, conversationId);
  return { bench, conversationId, result };
}

describe('a conversation that goes on while it is compacted', () => {
  test('turns arriving during a compaction stay verbatim behind the snapshot', async () => {
    const { bench, conversationId, result } = await compactWhile('summarised', async (...at) => {
      const [{ store }, id] = at;
      await addTurn(store, id, { user: 'Late one', answer: 'Answered.' });
      await addTurn(store, id, { user: 'Late two', answer: 'Answered.' });
    });

    const { conversation, items, text } = await see(bench.store, conversationId);
    const seqs = [...new Set(items.flatMap(({ seq }) => seq ?? []))];
    const first = conversation.coveredThrough.seq + 1;
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(conversation.lastSeq).toBe(22);
    expect(seqs).toEqual(Array.from({ length: 22 - first + 1 }, (_, index) => first + index));
    expect(text).toContain('Late one');
    expect(text).toContain('Late two');
  });

  test.each(['summarised', 'verified'] as const)(
    'a conversation deleted when the worker has %s stays as it was deleted',
    async (point) => {
      const deleted = { state: 'deleted', generation: 1 };
      const { bench, conversationId, result } = await compactWhile(point, (at, id) =>
        setConversation(at, id, deleted),
      );

      const { conversation } = await see(bench.store, conversationId);
      expect(result).toMatchObject({ kind: 'done', state: 'SUPERSEDED', reason: 'NOT_LIVE' });
      expect(conversation).toMatchObject({ ...deleted, coveredThrough: { seq: 0 } });
      expect(await historiesOf(bench, conversationId)).toHaveLength(0);
    },
  );

  test('a conversation erased during a compaction gets no document back', async () => {
    const { bench, conversationId, result } = await compactWhile('summarised', (at, id) =>
      at.store.commit([
        { op: 'delete', path: compactionJobPath(id) },
        { op: 'delete', path: conversationPath(id) },
      ]),
    );

    const documents = await bench.store.get([
      conversationPath(conversationId),
      compactionJobPath(conversationId),
      historyPath(conversationId, 1),
    ]);
    expect(result).toMatchObject({ kind: 'done', state: 'SUPERSEDED', reason: 'NOT_LIVE' });
    expect(documents).toEqual([undefined, undefined, undefined]);
  });

  test('another change of the generation wins, and the compaction is retried', async () => {
    const { bench, conversationId, result } = await compactWhile('verified', (at, id) =>
      setConversation(at, id, { generation: 1 }),
    );

    const [conversation, job] = await bench.store.get([
      conversationPath(conversationId),
      compactionJobPath(conversationId),
    ]);
    expect(result).toMatchObject({ kind: 'retry', reason: 'GENERATION_MOVED' });
    expect(conversation?.fields['coveredThrough']).toEqual({ seq: 0, contentIndex: 0 });
    expect(job?.fields['owner']).toBe('');
  });
});

describe('a conversation that lost a statement with an erased message', () => {
  const items: readonly KnownItem[] = [
    ['The trip begins in Lisbon.', 1],
    ['The hotel has a garden.', 3, 4],
  ];

  /** A conversation whose snapshot lost a statement, so that its turns are to be read again. */
  async function mended() {
    const world = lifecycle();
    const conversationId = await compactedTwice(world, items);
    await removeMessage(world, conversationId, 'message-3');
    return { world, conversationId, before: await see(world.store, conversationId) };
  }

  test('a compaction after an erasure starts from clean turns, as far as the previous one', async () => {
    const { world, conversationId, before } = await mended();

    await compactOnce(world.bench, conversationId);

    const asked = JSON.stringify(world.bench.model.calls.at(-1)?.contents);
    expect(asked).toContain('Question 1:');
    expect(asked).not.toContain('The trip begins in Lisbon.');
    const { conversation, history } = await see(world.store, conversationId);
    const covered = before.conversation.coveredThrough.seq;
    expect(conversation.coveredThrough.seq).toBeGreaterThanOrEqual(covered);
    expect(history).toMatchObject({ state: 'COMPACTED', from: 1 });
  });

  test('a compaction after an erasure continues from the remaining items when turns are too many', async () => {
    const { world, conversationId } = await mended();
    const settings = { thresholdTokens: 1_000, windowTokens: 4_000 };
    await setConversation(world, conversationId, { settings });
    const calls = world.bench.model.calls.length;

    await compactAgain(world, conversationId, 12);

    const asked = JSON.stringify(world.bench.model.calls.slice(calls));
    expect(asked).toContain('The trip begins in Lisbon.');
    expect(asked).not.toContain('Question 1:');
    const { history } = await see(world.store, conversationId);
    expect(history).toMatchObject({ state: 'COMPACTED', generation: 4 });
  });

  test('a compaction after an erasure keeps the snapshot while no model may be called', async () => {
    const { world, conversationId, before } = await mended();
    // As a turn leaves it that was answered from what is left.
    await setConversation(world, conversationId, { 'context.tokens': 600 });
    const until = new Date(world.bench.clock.now().getTime() + 60_000);
    const brake = { failures: 3, pause: { reason: 'BREAKER_OPEN', until } };
    const path = compactionJobPath(conversationId);
    await world.store.commit([{ op: 'update', path, fields: { brake }, guard: { exists: true } }]);

    await compactOnce(world.bench, conversationId);

    const { conversation, history, job } = await see(world.store, conversationId);
    expect(job?.records.at(-1)).toMatchObject({ state: 'NOOP', reason: 'BREAKER_OPEN' });
    expect(conversation.compactionRequests).toEqual({});
    expect(history).toEqual(before.history);
  });
});
