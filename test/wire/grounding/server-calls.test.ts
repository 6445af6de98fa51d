import { randomUUID } from 'node:crypto';
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
  const { message } = await send(id, 'search Euro 2024');
  await send(id, 'Thank you.');

  const [turn] = await server.dependencies.store.get([turnPath(id, 1)]);
  const [first, second] = [1, 2].map((n) => JSON.stringify(fakeGemini.requestBody(n)));
  expect(first).toContain('includeServerSideToolInvocations');
  expect(message.sources).toHaveLength(1);
  expect(message.parts).toEqual([
    { type: 'text', text: 'The web says of Euro 2024 that it is so.' },
  ]);
  expect(turn?.fields['answerJson']).not.toContain('toolCall');
  expect(second).toContain('that it is so');
  expect(second).not.toContain('toolCall');
});
