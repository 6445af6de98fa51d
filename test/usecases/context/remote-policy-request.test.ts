import { expect, test } from 'vitest';
import { createChatApp } from '#functions/chat/chat-app.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { REMOTE_POLICY_PATH } from '#functions/config/remote-documents.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';

/** The chat function as it is composed for production, on the embedded store. */
async function bench() {
  const { config, ...overrides } = chatDependencies({ clock: createManualClock() });
  const dependencies = await createDependencies(config, {
    store: overrides.store,
    clock: overrides.clock,
    publisher: overrides.publisher,
    idTokens: overrides.idTokens,
    logger: overrides.logger,
    model: {
      ...overrides.model,
      generate: () => Promise.reject(new Error('not asked')),
      countTokens: () => Promise.resolve(1),
    },
  }).chat();
  const app = createChatApp({ ...dependencies, sendMessage, heartbeatMs: 1_000 });
  const { conversation } = await buildConversation(dependencies.store, { turns: 1 });
  return {
    store: dependencies.store,
    thresholdTokens: () =>
      conversationPolicy(dependencies.config, conversation).softThresholdTokens,
    get: (path: string) =>
      app.fetch(
        new Request(`http://localhost${path}`, { headers: { authorization: 'Bearer token' } }),
        { work: [], breakOff: () => undefined, left: new AbortController().signal },
      ),
  };
}

test('a user’s request applies the remote policy', async () => {
  const { store, get, thresholdTokens } = await bench();
  const fields = { thresholdTokens: 9_000 };
  await store.commit([{ op: 'create', path: REMOTE_POLICY_PATH, fields }]);

  const response = await get('/v1/conversations');

  expect([response.status, thresholdTokens()]).toEqual([200, 9_000]);
});

test('a probe request reads nothing', async () => {
  const { store, get, thresholdTokens } = await bench();
  const fields = { thresholdTokens: 9_000 };
  await store.commit([{ op: 'create', path: REMOTE_POLICY_PATH, fields }]);

  await get('/v1/health');

  expect(thresholdTokens()).toBe(24_000);
});
