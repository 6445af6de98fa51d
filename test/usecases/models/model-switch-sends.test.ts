import { expect, test } from 'vitest';
import { updateConversation } from '#functions/chat/conversations/write-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { request } from '#test/support/chat/sending.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;
const LARGE = 'gemini-2.5-flash';
/** 32,768 tokens, by the table of models. */
const SMALL = 'gemma-3-1b-it';
const WINDOW = 32_768;
const environment = {
  THRESHOLD_FRACTION: '0.5',
  CLIENT_WRITABLE: 'model',
};

/** Some 100,000 tokens with a model of a million, which it then leaves for one of 32,768. */
async function switched() {
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const chat = chatDependencies({ model }, environment);
  const { store } = chat;
  const turns = Array.from({ length: 20 }, (_, i) => ({
    user: `Question ${i + 1} ${'about bees '.repeat(2_200)}`,
  }));
  const { conversationId } = await buildConversation(store, {
    turns,
    conversation: { ownerUid: 'u1', model: LARGE },
  });
  const conversationNow = async () => {
    const read = await readConversation(store, conversationId);
    if (!read) throw new Error('there is no head');
    return read.value;
  };
  const before = await conversationNow();
  await updateConversation(chat, { caller, conversationId, patch: { model: SMALL } });
  return {
    before,
    conversationNow,
    requests,
    send: async () => (await sendMessage(chat, request(conversationId, 'And now?'))).result,
    /** Tokens of the last prompt, as they are estimated. */
    sentTokens: () => {
      const sent = requests.at(-1);
      return sent ? estimatePromptTokens(sent, { rule: 'character-class' }) : 0;
    },
  };
}

test('a conversation switched to a small window is sent shortened and due for compaction', async () => {
  const { before, conversationNow, send, sentTokens, requests } = await switched();

  const { shrinkage } = await send();

  expect(before.context.tokens).toBeGreaterThan(90_000);
  expect(requests[0]?.model).toBe(SMALL);
  expect(sentTokens()).toBeGreaterThan(0);
  expect(sentTokens()).toBeLessThan(0.9 * WINDOW);
  expect(shrinkage?.turnsLeftOut).toBeGreaterThan(0);
  expect((await conversationNow()).compactionRequests.auto?.trigger).toBe('modelSwitch');
});
