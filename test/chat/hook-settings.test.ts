import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversationResponse } from '../../shared/wire/responses/conversations.ts';
import { errorOf, startChatServer, type ChatServer } from '../support/chat-server.ts';
import { createConversation, readAs } from '../support/http-answers.ts';

const HOOK = { url: 'https://hooks.example.com/compactions', events: ['preCompact'] };
const environment = {
  HOOK_HOSTS: 'hooks.example.com',
  HOOK_SIGNING_KEY: 'a signing key of thirty-two chars',
};

let open: ChatServer;
let closed: ChatServer;
beforeAll(async () => {
  open = await startChatServer({ environment: { ...environment, CLIENT_WRITABLE: 'hooks' } });
  closed = await startChatServer({ environment });
});
afterAll(() => Promise.all([open.stop(), closed.stop()]));

async function patch(chat: ChatServer, hooks: unknown) {
  const { id } = await createConversation(chat);
  return chat.call(`/v1/conversations/${id}`, { method: 'PATCH', body: { settings: { hooks } } });
}

describe('webhooks as a setting of a conversation', () => {
  test('are stored where the deployment lets callers write them', async () => {
    const response = await patch(open, [HOOK]);

    expect(response.status).toBe(200);
    expect((await readAs(conversationResponse, response)).settings).toEqual({ hooks: [HOOK] });
  });

  test('are refused where it does not', async () => {
    const response = await patch(closed, [HOOK]);

    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ reason: 'FIELD_NOT_WRITABLE' });
  });

  test.each([
    'https://evil.example.com/',
    'http://hooks.example.com/',
    'https://hooks.example.com@evil.example.com/',
  ])('%s is refused: it would never be called', async (url) => {
    const response = await patch(open, [{ ...HOOK, url }]);

    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ reason: 'HOOK_NOT_ALLOWED' });
  });
});
