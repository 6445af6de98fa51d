import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { headPath, turnPath } from '../../shared/conversation/paths.ts';
import type { DocumentFields } from '../../shared/ports.ts';
import { startChatServer, type ChatServer } from '../support/chat-server.ts';
import { buildConversation } from '../support/conversation-builder.ts';

let chat: ChatServer | undefined;
afterEach(async () => {
  await chat?.stop();
  chat = undefined;
});

/** A conversation of two turns, one document of which has these fields as well. */
async function serveWith(pathOf: (conversationId: string) => string, fields: DocumentFields) {
  chat = await startChatServer();
  const { store } = chat.dependencies;
  const { conversationId } = await buildConversation(store, {
    turns: 2,
    head: { ownerUid: 'alice' },
  });
  const path = pathOf(conversationId);
  const [document] = await store.get([path]);
  const guard = { updateTime: document?.updateTime ?? '' };
  await store.commit([{ op: 'update', path, fields, guard }]);
  const sent = await chat.call(`/v1/conversations/${conversationId}/messages`, {
    method: 'POST',
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello?' }] } },
  });
  const [after] = await store.get([path]);
  return { sent, after: after?.fields, chat };
}

test('what a later version added to a head is passed over and kept', async () => {
  const { sent, after } = await serveWith(headPath, { addedLater: 'kept' });

  expect(sent.status).toBe(200);
  expect(after).toMatchObject({ addedLater: 'kept', lastSeq: 3 });
});

test.each([
  ['head', headPath],
  ['turn', (conversationId: string) => turnPath(conversationId, 2)],
])(
  'a %s of a later schema version refuses its conversation, and stays as it is',
  async (_, pathOf) => {
    const { sent, after, chat: server } = await serveWith(pathOf, { schemaVersion: 2 });

    expect(sent.status).toBe(500);
    expect(after).toMatchObject({ schemaVersion: 2 });
    expect(server.logs).toContainEqual(
      expect.objectContaining({ severity: 'ERROR', event: 'request' }),
    );
  },
);
