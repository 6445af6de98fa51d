import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import {
  catchUp,
  loadMessages,
  loadPages,
  transportOptions,
  type Backend,
} from '#docs/clients/recipes/use-chat.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { png, startAttaching, textFile } from '#test/support/chat/attaching.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { createChat, partsOf } from '#test/support/wire/use-chat.ts';

const attaching = await startAttaching();
afterAll(() => attaching.stop());
const { url, keys, project, dependencies } = attaching.chat;
const backend: Backend = {
  baseUrl: url,
  getIdToken: () => keys.sign(idTokenClaims(project, 'alice')),
};

type Messages = Awaited<ReturnType<typeof loadMessages>>;

/** A chat of a page that shows these messages. */
const open = (id: string, messages: Messages = []) =>
  createChat(7, {
    id,
    messages,
    transport: transportOptions(backend),
    onData: () => undefined,
  });

const fileOf = (uploadId: string, mediaType: string) => ({
  type: 'file' as const,
  mediaType,
  url: `upload:${uploadId}`,
});

test('loadMessages gives an upload an address, and the message can be sent again', async () => {
  const id = randomUUID();
  const picture = png(99, 'of a page');
  const files = [fileOf(await attaching.upload(picture), 'image/png')];
  await open(id).sendMessage({ text: 'What is this?', files });

  const messages = await loadMessages(backend, id);
  const again = open(id, messages);
  await catchUp(again);

  const file = messages[0]?.parts.find(({ type }) => type === 'file');
  const bytes = await (await fetch(file && 'url' in file ? file.url : '')).bytes();
  expect(Buffer.from(bytes).equals(picture.bytes)).toBe(true);
  expect(again).toMatchObject({ status: 'ready', error: undefined });
  expect(again.messages.at(-1)?.metadata).toMatchObject({ replayed: true });
});

test('useChat goes on from a message with a text file, and answers it anew', async () => {
  const id = randomUUID();
  const uploadId = await attaching.upload(textFile('Milk, eggs and flour.'));
  await open(id).sendMessage({ text: 'What is this?', files: [fileOf(uploadId, 'text/plain')] });

  const { api, headers } = transportOptions(backend);
  const whole = createChat(7, {
    id,
    messages: await loadMessages(backend, id),
    transport: { api, headers },
    onData: () => undefined,
  });
  await whole.sendMessage({ text: 'And then?' });
  expect(whole).toMatchObject({ status: 'ready', error: undefined });
  await whole.regenerate({ messageId: 'm_1' });

  expect(whole).toMatchObject({ status: 'ready', error: undefined });
  expect(partsOf(whole)).toHaveLength(1);
  expect(JSON.stringify(attaching.prompt())).toContain('Milk, eggs and flour.');
  expect(whole.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
});

test('loadPages gives the newest messages before the earlier ones are read, without replaced ones', async () => {
  const { conversationId } = await buildConversation(dependencies.store, {
    turns: Array.from({ length: 120 }, () => ({})),
    conversation: { ownerUid: 'alice' },
  });
  // Turn 120 stands in for the 100 before it.
  await dependencies.store.commit([
    {
      op: 'update',
      path: turnPath(conversationId, 120),
      fields: { replaces: 20 },
      guard: { exists: true },
    },
  ]);
  const idsOf = (messages: { id: string }[] = []) => messages.map(({ id }) => id);
  const pages = loadPages(backend, conversationId);

  const first = await pages.next();
  const rest: string[][] = [];
  for await (const page of pages) rest.push(idsOf(page));
  const all = idsOf(await loadMessages(backend, conversationId));

  expect(idsOf(first.value ?? [])).toEqual(['message-120', 'm_120']);
  const earlier = Array.from({ length: 19 }, (_, i) => [`message-${i + 1}`, `m_${i + 1}`]).flat();
  expect(rest.toReversed().flat()).toEqual(earlier);
  expect(all).toEqual([...earlier, 'message-120', 'm_120']);
});
