import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { contentText } from '#shared/conversation/documents/content.ts';
import { startWireServer } from '../support/wire/wire-server.ts';
import {
  answeredDocuments,
  collectionPath,
  conversationIdFor,
  PATTERN,
  storeDiscussion,
  storeParents,
} from '../support/import/extension.ts';
import { ops } from '../support/processes/ops.ts';

const wire = await startWireServer();
afterAll(() => wire.stop());

test('a message to an imported conversation is answered with the imported turns in the context, and the transcript shows all', async () => {
  const { store } = wire.dependencies;
  const collection = collectionPath('alice', randomUUID());
  await storeDiscussion(store, collection, answeredDocuments(2));
  await storeParents(store, collection);
  await ops({ chat: wire.dependencies }, ['import', '--from', PATTERN, '--yes']);
  const id = conversationIdFor(collection);

  const message = { id: randomUUID(), parts: [{ type: 'text', text: 'What did I ask?' }] };
  const sent = wire.call(`/v1/conversations/${id}/messages`, { body: { message } });
  await wire.answer('What did I ask?', 'Two questions.');
  const { request } = await wire.callOf('What did I ask?');

  expect((await sent).status).toBe(200);
  expect(request.contents.slice(0, -1).map(contentText)).toEqual([
    'Question 1',
    'Answer 1',
    'Question 2',
    'Answer 2',
  ]);
  const listed = await (await wire.call(`/v1/conversations/${id}/messages`)).text();
  for (const text of ['Question 1', 'Answer 2', 'What did I ask?', 'Two questions.'])
    expect(listed).toContain(text);
  const conversations = await (await wire.call('/v1/conversations')).text();
  expect(conversations).toContain(id);
});
