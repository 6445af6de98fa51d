import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { readAs } from '#test/support/chat/http-answers.ts';

let [learning, plain]: ChatServer[] = [];
beforeAll(async () => {
  learning = await startChatServer({ environment: { LEARN_THRESHOLD: 'on' } });
  plain = await startChatServer();
});
afterAll(async () => {
  await learning?.stop();
  await plain?.stop();
});

/** What a compaction by hand leaves behind, of about 2,600 tokens. */
async function compactByHand(chat: ChatServer | undefined, body: object = {}) {
  if (!chat) throw new Error('no server');
  const { store } = chat.dependencies;
  const conversation = { ownerUid: 'alice' };
  const { conversationId: id } = await buildConversation(store, { turns: 20, conversation });
  await chat.call(`/v1/conversations/${id}:compact`, { body });
  const [document] = await store.get([conversationPath(id)]);
  const context = await chat.call(`/v1/conversations/${id}/context`);
  return {
    stored: document?.fields['thresholdShift'],
    threshold: (await readAs(contextResponse, context)).policy?.threshold,
  };
}

describe('a compaction by hand', () => {
  test('a manual compaction far below the threshold lowers it where learning is enabled', async () => {
    expect(await compactByHand(learning)).toEqual({
      stored: -0.05,
      threshold: { tokens: 22_800, source: 'default', learned: -0.05 },
    });
  });

  test('a manual compaction does not change the threshold unless learning is enabled', async () => {
    expect(await compactByHand(plain)).toEqual({
      stored: undefined,
      threshold: { tokens: 24_000, source: 'default' },
    });
  });

  test('a dry-run compaction does not change the threshold', async () => {
    expect((await compactByHand(learning, { dryRun: true })).stored).toBeUndefined();
  });
});
