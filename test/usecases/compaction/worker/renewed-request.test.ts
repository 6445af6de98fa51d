import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { textAnswer, scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  neverAborted,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import { request } from '#test/support/chat/sending.ts';

const usage = { promptTokens: 3_500, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };

/** A message that alone fills the threshold of `buildDue` again. */
async function sendLong(bench: CompactionBench, conversationId: string): Promise<void> {
  const chat = chatDependencies({
    store: bench.store,
    clock: bench.clock,
    model: scriptedStreamer(textAnswer('Noted.', usage)).model,
  });
  const handle = await sendMessage(chat, request(conversationId, 'and then '.repeat(700)));
  await handle.result;
}

/** Compacts once; the long message comes in when the worker has reached `point`. */
async function compactWhileSending(bench: CompactionBench, point: string): Promise<string> {
  const conversationId = await buildDue(bench, { conversation: { ownerUid: 'u1' } });
  const atCrashPoint = async (reached: string) => {
    if (reached === point) await sendLong(bench, conversationId);
  };
  await runCompaction({ ...bench, atCrashPoint }, { conversationId, signal: neverAborted() });
  return conversationId;
}

describe('a turn that crosses the threshold while a compaction is under way', () => {
  test.each(['claimed', 'summarised', 'before-swap', 'swapped'])(
    'a turn over the threshold during a compaction that ends at %s starts the next one',
    async (point) => {
      const bench = compactionBench();

      const conversationId = await compactWhileSending(bench, point);

      const { conversation } = await see(bench.store, conversationId);
      const requestId = conversation.compactionRequests.auto?.requestId;
      expect(conversation.generation).toBe(1);
      expect(requestId).toEqual(expect.not.stringMatching('request-1'));
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
    const bench = compactionBench();

    const conversationId = await compactWhileSending(bench, 'settled');

    expect(
      (await see(bench.store, conversationId)).conversation.compactionRequests.auto,
    ).toBeDefined();
  });
});

test('a turn over the threshold renews a request found void meanwhile', async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench, {
    conversation: { ownerUid: 'u1', settings: { thresholdTokens: 3_000 } },
  });
  const atCrashPoint = async (reached: string) => {
    if (reached === 'record-written') await sendLong(bench, conversationId);
  };

  await runCompaction({ ...bench, atCrashPoint }, { conversationId, signal: neverAborted() });

  const { conversation, job } = await see(bench.store, conversationId);
  expect(job?.records).toMatchObject([{ state: 'NOOP', reason: 'BELOW_THRESHOLD' }]);
  expect(conversation.compactionRequests.auto?.requestId).toEqual(
    expect.not.stringMatching('request-1'),
  );
  await compactOnce(bench, conversationId);
  expect((await see(bench.store, conversationId)).conversation).toMatchObject({
    generation: 1,
    compactionRequests: {},
  });
});

test('a turn over the threshold renews the request while a failure is settled', async () => {
  const bench = compactionBench({
    model: createScriptedModel({ answers: [snapshotAnswer()] }),
  });
  const conversationId = await buildDue(bench, {
    turns: 1,
    conversation: { ownerUid: 'u1', settings: { thresholdTokens: 100 } },
  });
  const atCrashPoint = async (reached: string) => {
    if (reached === 'record-written') await sendLong(bench, conversationId);
  };

  await runCompaction({ ...bench, atCrashPoint }, { conversationId, signal: neverAborted() });

  const { conversation, job } = await see(bench.store, conversationId);
  expect(job?.records).toMatchObject([{ state: 'NOOP', reason: 'NOTHING_TO_FOLD' }]);
  expect(conversation.compactionRequests.auto?.requestId).toEqual(
    expect.not.stringMatching('request-1'),
  );
});

test('a request that took the place of the served one stays', async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench, { conversation: { ownerUid: 'u1' } });
  const newer = autoRequest('request-2').auto;
  const atCrashPoint = async (reached: string) => {
    if (reached === 'swapped')
      await setConversation(bench, conversationId, { 'compactionRequests.auto': { ...newer } });
  };

  await runCompaction({ ...bench, atCrashPoint }, { conversationId, signal: neverAborted() });

  const { conversation } = await see(bench.store, conversationId);
  expect(conversation.generation).toBe(1);
  expect(conversation.compactionRequests.auto).toEqual(newer);
});

test('a worker that dies before publishing a renewed request leaves it stored', async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench, { conversation: { ownerUid: 'u1' } });
  const atCrashPoint = async (reached: string) => {
    if (reached === 'summarised') await sendLong(bench, conversationId);
    if (reached === 'request-renewed') throw new Error('killed');
  };

  const run = runCompaction({ ...bench, atCrashPoint }, { conversationId, signal: neverAborted() });

  await expect(run).rejects.toThrow('died at request-renewed');
  const { conversation } = await see(bench.store, conversationId);
  expect(conversation.compactionRequests.auto?.requestId).toEqual(
    expect.not.stringMatching('request-1'),
  );
});

test('a swap that left room is followed by no compaction', async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench);

  await compactOnce(bench, conversationId);

  expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
});
