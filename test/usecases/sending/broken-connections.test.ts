import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { drainChat } from '#functions/chat/drain.ts';
import { shuttingDownError } from '#functions/chat/turns/stream/stream-cut.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import { startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';

let chat: ChatServer | undefined;
afterEach(async () => {
  await chat?.stop();
  chat = undefined;
});

const body = () => ({ message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello' }] } });
const sse = { accept: 'text/event-stream' };
const messages = () => `/v1/conversations/${randomUUID()}/messages`;

/** What of a body arrives, and whether it comes to an orderly end. */
async function readAll(response: Response): Promise<{ text: string; isWhole: boolean }> {
  let text = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
      text += part.value;
    return { text, isWhole: true };
  } catch {
    return { text, isWhole: false };
  }
}

test('a stream of an ending instance breaks the connection after all text so far', async () => {
  const steered = steeredStreamer();
  const shutdown = new AbortController();
  const overrides = { model: steered.model, shutdown: shutdown.signal };
  chat = await startChatServer({ overrides });
  const response = await chat.call(messages(), { body: body(), headers: sse });
  (await steered.call()).say('Half an answer');

  shutdown.abort();
  await drainChat(chat.dependencies, new Set(), 50);
  const { text, isWhole } = await readAll(response);

  expect(isWhole).toBe(false);
  expect(text).toContain('"delta":"Half an answer"');
  expect(text).not.toMatch(/text-end|finish|DONE/);
});

test('a stream cut before its first event is a broken connection too', async () => {
  const result = Promise.reject(shuttingDownError('a test'));
  result.catch(() => undefined);
  async function* frames(): AsyncGenerator<StreamFrame> {
    yield await Promise.reject<StreamFrame>(shuttingDownError('a test'));
  }
  const sendMessage = () =>
    Promise.resolve({
      turnId: 't_1',
      conversationId: 'c',
      generation: 0,
      replayed: false,
      frames,
      subscribe: () => undefined,
      result,
    });
  chat = await startChatServer({ collaborators: { sendMessage } });

  const response = await chat.call(messages(), { body: body(), headers: sse });

  expect(await readAll(response)).toEqual({ text: '', isWhole: false });
});
