import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import {
  catchUp,
  loadMessages,
  loadPages,
  readError,
  transportOptions,
  type Backend,
} from '#docs/clients/recipes/use-chat.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { heldStreamer } from '#test/fakes/held-streamer.ts';
import { png, startAttaching, textFile } from '#test/support/chat/attaching.ts';
import { startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';
import { versions } from './versions.ts';

const backendOf = ({ url, keys, project }: ChatServer): Backend => ({
  baseUrl: url,
  getIdToken: () => keys.sign(idTokenClaims(project, 'alice')),
});

const tools = await startToolServer();
const attaching = await startAttaching();
afterAll(() => Promise.all([tools.stop(), attaching.stop()]));

describe.each(versions)('loadMessages for useChat of ai %s', (_, createChat) => {
  test('loadMessages shows tool calls as useChat has shown them', async () => {
    const backend = backendOf(tools);
    const id = await conversationWithTools(tools);
    const transport = transportOptions(backend);
    const chat = createChat({ id, messages: [], transport, onData: () => undefined });
    await chat.sendMessage({
      text: 'One.\ncall weather {"city":"Oslo"}\ncall broken\nthen\nTwo.\ncall locate {"a":1}',
    });

    const messages = await loadMessages(backend, id);

    expect(messages[1]?.parts).toHaveLength(6);
    expect(chat.messages[1]?.parts).toMatchObject(messages[1]?.parts ?? []);
    expect(messages[1]?.parts[5]).toMatchObject({ state: 'input-available', toolCallId: 't_1_c2' });
  });

  test('loadMessages gives an upload an address, and the message can be sent again', async () => {
    const backend = backendOf(attaching.chat);
    const id = randomUUID();
    const picture = png(99, 'of a page');
    const uploadId = await attaching.upload(picture);
    const transport = transportOptions(backend);
    const chat = createChat({ id, messages: [], transport, onData: () => undefined });
    const files = [{ type: 'file' as const, mediaType: 'image/png', url: `upload:${uploadId}` }];
    await chat.sendMessage({ text: 'What is this?', files });

    const messages = await loadMessages(backend, id);

    const file = messages[0]?.parts.find(({ type }) => type === 'file');
    const url = file && 'url' in file ? file.url : '';
    const bytes = await (await fetch(url)).bytes();
    expect(Buffer.from(bytes).equals(picture.bytes)).toBe(true);
    const again = createChat({ id, messages, transport, onData: () => undefined });
    await catchUp(again);
    expect(again).toMatchObject({ status: 'ready', error: undefined });
    expect(again.messages.at(-1)?.metadata).toMatchObject({ replayed: true });
  });

  test('useChat goes on from a message with a text file, and answers it anew', async () => {
    const backend = backendOf(attaching.chat);
    const id = randomUUID();
    const uploadId = await attaching.upload(textFile('Milk, eggs and flour.'));
    const transport = transportOptions(backend);
    const chat = createChat({ id, messages: [], transport, onData: () => undefined });
    const files = [{ type: 'file' as const, mediaType: 'text/plain', url: `upload:${uploadId}` }];
    await chat.sendMessage({ text: 'What is this?', files });
    await chat.sendMessage({ text: 'And now?' });

    const { api, headers } = transport;
    const messages = await loadMessages(backend, id);
    const whole = createChat({
      id,
      messages,
      transport: { api, headers },
      onData: () => undefined,
    });
    await whole.sendMessage({ text: 'And then?' });
    expect(whole).toMatchObject({ status: 'ready', error: undefined });
    await whole.regenerate({ messageId: 'm_1' });

    expect(whole).toMatchObject({ status: 'ready', error: undefined });
    expect(JSON.stringify(attaching.prompt())).toContain('Milk, eggs and flour.');
    expect(whole.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});

test('loadMessages follows the pages of a long conversation', async () => {
  const { model, answerAll } = heldStreamer();
  answerAll();
  const server = await startChatServer({ overrides: { model } });
  const id = randomUUID();
  for (let n = 1; n <= 51; n++) {
    const message = { id: randomUUID(), parts: [{ type: 'text', text: `Message ${n}` }] };
    await (
      await server.call(`/v1/conversations/${id}/messages`, { body: { message } })
    ).body?.cancel();
  }

  const messages = await loadMessages(backendOf(server), id);

  expect(messages).toHaveLength(102);
  expect(messages.at(-1)?.parts).toEqual([{ type: 'text', text: 'Answer to Message 51.' }]);
  await server.stop();
});

test('loadPages gives the newest messages before the earlier ones are read, without replaced ones', async () => {
  const { conversationId } = await buildConversation(tools.dependencies.store, {
    turns: Array.from({ length: 120 }, () => ({})),
    conversation: { ownerUid: 'alice' },
  });
  // Turn 120 stands in for the 100 before it.
  await tools.dependencies.store.commit([
    {
      op: 'update',
      path: turnPath(conversationId, 120),
      fields: { replaces: 20 },
      guard: { exists: true },
    },
  ]);
  const idsOf = (messages: { id: string }[] = []) => messages.map(({ id }) => id);
  const pages = loadPages(backendOf(tools), conversationId);

  const first = await pages.next();
  const rest: string[][] = [];
  for await (const page of pages) rest.push(idsOf(page));

  expect(idsOf(first.value ?? [])).toEqual(['message-120', 'm_120']);
  expect(rest.toReversed().flat()).toEqual(
    Array.from({ length: 19 }, (_, i) => [`message-${i + 1}`, `m_${i + 1}`]).flat(),
  );
});

test('loadMessages explains a token that is refused', async () => {
  const backend = { baseUrl: tools.url, getIdToken: () => Promise.resolve('a.b.c') };

  const refused = await loadMessages(backend, randomUUID()).catch((error: unknown) => error);

  expect(refused).toBeInstanceOf(Error);
  expect(refused instanceof Error && readError(refused)).toMatchObject({
    code: 401,
    reason: 'ID_TOKEN_INVALID',
    message: expect.stringContaining('getIdToken()'),
  });
});
