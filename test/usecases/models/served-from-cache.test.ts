import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import { answered, request } from '#test/support/chat/sending.ts';
import {
  compactOnce,
  manualRequest,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';

/** Some 5,000 tokens: caches take no prompt of less than 4,096. */
const LONG_INSTRUCTION = 'Answer in one sentence, and name the source. '.repeat(500);

/** A chat over HTTP with a model that caches as Gemini does, and two answered messages. */
async function cachingChat() {
  const server = await startFakeGemini();
  onTestFinished(() => server.close());
  const model = createGeminiModel({
    apiKey: 'no-key',
    baseUrl: server.url,
    firstEventTimeoutMs: 5_000,
    eventIdleTimeoutMs: 5_000,
    requestTimeoutMs: 5_000,
  });
  const shares: number[] = [];
  const logger = {
    log: (_: string, event: string, { cachedTokens, promptTokens }: Record<string, unknown>) =>
      void (event === 'turn_finished' && shares.push(Number(cachedTokens) / Number(promptTokens))),
  };
  const chat = chatDependencies({ model, logger }, { SYSTEM_INSTRUCTION: LONG_INSTRUCTION });
  const id = randomUUID();
  /** Which share of its prompt a message was served from the cache. */
  const ask = async (text: string) => {
    await answered(chat, request(id, text));
    return shares.at(-1);
  };
  await ask('Hello.');
  await ask('My dog is called Pixel.');
  return { chat, id, shares, ask };
}

test('all but the end of a prompt comes from the cache from the second message on', async () => {
  const { shares } = await cachingChat();

  expect(shares).toEqual([0, expect.closeTo(1, 1)]);
});

test('after a swap one prompt is not served from the cache, and the next one is', async () => {
  const { chat, id, ask } = await cachingChat();
  for (let i = 0; i < 4; i++)
    await ask(`Tell me of place ${i}: ${'it lies by the river. '.repeat(80)}`);
  await setConversation(chat, id, { compactionRequests: { ...manualRequest() } });
  const compaction = await compactOnce(compactionBench({ store: chat.store }), id);

  expect(compaction).toMatchObject({ state: 'COMPACTED' });
  expect(await ask('What is he called?')).toBe(0);
  expect(await ask('Are you sure?')).toBeCloseTo(1, 1);
});
