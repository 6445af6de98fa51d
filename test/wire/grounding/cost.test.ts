import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { usageResponse } from '#shared/wire/resources/usage.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createQuota } from '#functions/quota/create-quota.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { readAs } from '#test/support/chat/http-answers.ts';
import { eventually } from '#test/support/eventually.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const MODEL = 'gemini-3.8-flash';
const environment = {
  GROUNDING: 'search,url',
  MODEL,
  MODEL_PRICES: JSON.stringify({ [MODEL]: { input: 1.5, cached: 0.15, output: 9 } }),
  USER_DAILY_USD: '5',
};
const store = createMemoryDocumentStore();
const quota = createQuota(chatDependencies({ store }, environment));
const server = await startWireServer({ environment, overrides: { quota, store } });
afterAll(() => server.stop());

/** 1.5 dollars a million read, 9 written; 14 dollars a thousand searches. */
const COST_MICROS = 1.5 * (100 + 40) + 9 * 10 + 2 * 14_000;

test('the cost of an answer has its searches and what was read for it, in its usage and in the user’s quota', async () => {
  const text = `Who won? ${randomUUID()}`;
  const sent = server.call(`/v1/conversations/${randomUUID()}/messages`, {
    headers: { accept: 'application/json' },
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text }] } },
  });
  const call = await server.callOf(text);
  call.say('Spain.');
  call.ground({ sources: [], queries: ['euro winner', 'euro winner', 'euro final'] });
  call.end({
    promptTokens: 100,
    cachedTokens: 0,
    outputTokens: 10,
    thoughtsTokens: 0,
    toolTokens: 40,
  });

  const { usage } = await readAs(sendMessageResponse, await sent);
  const used = await eventually('the cost is in the quota', async () => {
    const day = await readAs(usageResponse, await server.call('/v1/users/me/usage'));
    return day.limits.costMicrosPerDay.used || undefined;
  });

  expect(usage).toMatchObject({ searches: 2, toolTokens: 40, costMicros: COST_MICROS });
  expect(used).toBe(COST_MICROS);
  const line = server.logs.find(({ event }) => event === 'turn_finished');
  expect(line?.fields).toMatchObject({ searches: 2, costMicros: COST_MICROS });
});
