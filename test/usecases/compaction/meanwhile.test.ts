import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { CompactionCrashPoint } from '#functions/lib/crash-points.ts';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  compactAgain,
  lifecycle,
  removeMessage,
  setConversation,
  type KnownItem,
  compactedTwice,
  historiesOf,
} from '#test/support/chat/lifecycle.ts';
import { request } from '#test/support/chat/sending.ts';
import {
  buildDue,
  compactOnce,
  see,
  type CompactionBench,
  actingAt,
  compactionBench,
  autoRequest,
  updateDocument,
} from '#test/support/compaction/compacted-conversation.ts';
import type { ConversationToBuild } from '#test/support/compaction/conversation-builder.ts';
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
    await updateDocument(world.store, path, { brake });

    await compactOnce(world.bench, conversationId);

    const { conversation, history, job } = await see(world.store, conversationId);
    expect(job?.records.at(-1)).toMatchObject({ state: 'NOOP', reason: 'BREAKER_OPEN' });
    expect(conversation.compactionRequests).toEqual({});
    expect(history).toEqual(before.history);
  });
});

const usage = { promptTokens: 3_500, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };

/** A message that alone fills the threshold of `buildDue` again. */
async function sendLong(bench: CompactionBench, conversationId: string): Promise<void> {
  const { model } = scriptedStreamer(textAnswer('Noted.', usage));
  const chat = chatDependencies({ store: bench.store, clock: bench.clock, model });
  const handle = await sendMessage(chat, request(conversationId, 'and then '.repeat(700)));
  await handle.result;
}

/** Compacts once; the long message comes in when the worker has reached `point`. */
async function compactWhileSending(
  point: CompactionCrashPoint,
  options: Partial<ConversationToBuild> = {},
) {
  const bench = compactionBench();
  const conversationId = await buildDue(bench, options);
  await compactOnce(
    actingAt(bench, point, () => sendLong(bench, conversationId)),
    conversationId,
  );
  return { bench, conversationId, ...(await see(bench.store, conversationId)) };
}

const FIRST = 'request-1';

describe('a turn that crosses the threshold while a compaction is under way', () => {
  test.each(['claimed', 'before-swap', 'swapped'] as const)(
    'a turn over the threshold during a compaction that ends at %s starts the next one',
    async (point) => {
      const { bench, conversationId, conversation } = await compactWhileSending(point);

      const requestId = conversation.compactionRequests.auto?.requestId;
      expect(conversation.generation).toBe(1);
      expect(requestId).not.toBe(FIRST);
      expect(bench.published).toContainEqual({
        topic: 'compaction',
        data: { schemaVersion: 1, conversationId, requestId },
      });
      await compactOnce(bench, conversationId);
      const after = await see(bench.store, conversationId);
      expect(after.conversation.compactionRequests).toEqual({});
    },
  );

  test.each([
    [
      'is found void',
      { conversation: { settings: { thresholdTokens: 3_000 } } },
      'BELOW_THRESHOLD',
    ],
    [
      'has nothing to fold',
      { turns: 1, conversation: { settings: { thresholdTokens: 100 } } },
      'NOTHING_TO_FOLD',
    ],
  ])('a turn over the threshold renews a request that %s meanwhile', async (_, options, reason) => {
    const { conversation, job } = await compactWhileSending('record-written', options);

    expect(job?.records).toMatchObject([{ state: 'NOOP', reason }]);
    const { auto } = conversation.compactionRequests;
    expect(auto).toBeDefined();
    expect(auto?.requestId).not.toBe(FIRST);
  });
});

test('a request that took the place of the served one stays', async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench);
  const newer = { ...autoRequest('request-2').auto };
  const acting = actingAt(bench, 'swapped', () =>
    setConversation(bench, conversationId, { 'compactionRequests.auto': newer }),
  );

  await compactOnce(acting, conversationId);

  const { conversation } = await see(bench.store, conversationId);
  expect(conversation.generation).toBe(1);
  expect(conversation.compactionRequests.auto).toEqual(newer);
});
