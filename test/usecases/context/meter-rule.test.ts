import { afterAll, expect, test } from 'vitest';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import { startChatServer } from '#test/support/chat/chat-server.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { messageBody } from '#test/support/processes/fault-stack.ts';
import { readAs } from '#test/support/chat/http-answers.ts';

/** Much that is no letter: the two rules are far apart on it. */
const systemInstruction = 'Ids: 4711-0815-4242; "x": [1, 2, 3]. '.repeat(20);

const chat = await startChatServer({
  environment: { CLIENT_WRITABLE: 'profile,systemInstruction' },
});
afterAll(() => chat.stop());

test.each([
  ['assistant', 'character-class'],
  ['coding', 'character-class'],
  ['gemini-cli', 'gemini-cli'],
] as const)('the meter estimates in the profile %s by the rule %s', async (profile, rule) => {
  const created = await chat.call('/v1/conversations', { body: { profile, systemInstruction } });
  const { id } = await readAs(conversationResponse, created);

  const shown = await chat.call(`/v1/conversations/${id}/context`);

  const { items } = await readAs(contextResponse, shown);
  const [system] = items;
  expect(system).toMatchObject({
    kind: 'system',
    tokens: estimateTextTokens(systemInstruction, rule),
  });
});

test('the meter keeps the system instruction apart from what is said', async () => {
  const created = await chat.call('/v1/conversations', { body: { systemInstruction } });
  const { id } = await readAs(conversationResponse, created);
  await chat.call(`/v1/conversations/${id}/messages`, { body: messageBody('Hi.') });

  const conversation = await readConversation(chat.dependencies.store, id);

  expect(conversation?.value.context.overheadTokens).toBeGreaterThan(
    estimateTextTokens(systemInstruction, 'character-class') / 2,
  );
});
