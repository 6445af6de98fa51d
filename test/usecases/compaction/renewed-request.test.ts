import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { CompactionCrashPoint } from '#functions/lib/crash-points.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import { request } from '#test/support/chat/sending.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  see,
  type CompactionBench,
  actingAt,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import type { ConversationToBuild } from '#test/support/compaction/conversation-builder.ts';
import { describe, expect, test } from 'vitest';

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

  test('a turn over the threshold ending after the settlement requests a compaction itself', async () => {
    const { conversation } = await compactWhileSending('settled');

    expect(conversation.compactionRequests.auto).toBeDefined();
  });

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

  test('a worker that dies before publishing a renewed request leaves it stored', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const atCrashPoint = async (reached: string) => {
      if (reached === 'summarised') await sendLong(bench, conversationId);
      if (reached === 'request-renewed') throw new Error('killed');
    };

    await expect(compactOnce({ ...bench, atCrashPoint }, conversationId)).rejects.toThrow(
      'died at request-renewed',
    );

    const { conversation } = await see(bench.store, conversationId);
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
