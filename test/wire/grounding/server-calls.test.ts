import { hash, randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { startChatServer } from '#test/support/chat/chat-server.ts';
import { createConversation, readAs } from '#test/support/chat/http-answers.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';

const { server: fakeGemini, model } = await startModelServer();
const server = await startChatServer({
  overrides: { model },
  environment: { GROUNDING: 'search', CLIENT_WRITABLE: 'tools' },
});
afterAll(() => server.stop());

const tools = [{ name: 'find_boat', parameters: { type: 'object' } }];

const send = async (conversationId: string, text: string) =>
  readAs(
    sendMessageResponse,
    await server.call(`/v1/conversations/${conversationId}/messages`, {
      headers: { accept: 'application/json' },
      body: { message: { id: randomUUID(), parts: [{ type: 'text', text }] } },
    }),
  );

test('what Google’s own tools were asked is no part of the transcript and of later prompts', async () => {
  const { id } = await createConversation(server, { body: { tools } });
  const call = { id: 'search-1', toolType: 'GOOGLE_SEARCH_WEB' };
  fakeGemini.registerAnswers({
    userHash: hash('sha256', 'Who won?'),
    ordinal: 1,
    contents: [{ role: 'model', parts: [{ toolCall: call }, { text: 'España won.' }] }],
    metadata: {
      groundingMetadata: { groundingChunks: [{ web: { uri: 'https://uefa.com/', title: 'x' } }] },
    },
  });
  const { message } = await send(id, 'Who won?');
  await send(id, 'Thank you.');

  const [turn] = await server.dependencies.store.get([turnPath(id, 1)]);
  const [first, second] = [1, 2].map((n) => JSON.stringify(fakeGemini.requestBody(n)));
  expect(first).toContain('includeServerSideToolInvocations');
  expect(message.sources).toHaveLength(1);
  expect(message.parts).toEqual([{ type: 'text', text: 'España won.' }]);
  expect(turn?.fields['answerJson']).not.toContain('toolCall');
  expect(second).toContain('España won.');
  expect(second).not.toContain('toolCall');
});
