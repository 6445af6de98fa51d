import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { errorOf, serveForTest } from '#test/support/chat/chat-server.ts';
import { drainChat } from '#functions/chat/drain.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import { eventually } from '#test/support/eventually.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { SendHandle, SendRequest } from '#functions/chat/turns/send/send-request.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';

const someContext: ContextObject = {
  tokens: 110,
  thresholdTokens: 1_000,
  windowTokens: 10_000,
  percent: 1.1,
  source: 'reported',
  generation: 0,
  compaction: null,
};

/** A finished turn that answers `request` with `text`. */
const finishedTurn = (request: SendRequest, text: string): Turn => ({
  schemaVersion: 1,
  seq: 1,
  messageId: request.message.id,
  state: 'done',
  attempt: 1,
  producer: 'p',
  leaseUntil: new Date(0),
  createTime: new Date(0),
  finishTime: new Date(1_000),
  tokens: { user: 1, answer: 1 },
  usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 },
  finishReason: 'STOP',
  inContext: true,
  user: { role: 'user', parts: request.message.parts },
  contents: [
    {
      role: 'model',
      parts: [
        { text: 'private thought', thought: true },
        { text, thoughtSignature: 'signature' },
      ],
    },
  ],
});

/** A send use case that a test writes by hand. */
function handWrittenSend(
  answer: (request: SendRequest) => Pick<SendHandle, 'frames'> & Partial<SendHandle>,
) {
  const sendMessage = (_: ChatDependencies, request: SendRequest): Promise<SendHandle> =>
    Promise.resolve({
      turnId: 't_1',
      conversationId: request.conversationId,
      generation: 3,
      replayed: false,
      subscribe: () => undefined,
      result: Promise.resolve({
        turn: finishedTurn(request, 'Fine.'),
        context: someContext,
        replayed: false,
      }),
      ...answer(request),
    });
  return { sendMessage };
}

/** Frames from a list. */
async function* framesOf(...frames: readonly StreamFrame[]): AsyncGenerator<StreamFrame> {
  for (const frame of frames) yield await Promise.resolve(frame);
}

/** The last frame of a turn, as the AI SDK ends a stream. */
const finish: StreamFrame = {
  id: 9,
  chunk: { type: 'finish', finishReason: 'stop', messageMetadata: { generation: 3 } },
};

/** The body of a message. */
const greeting = () => ({
  message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello' }] },
});

/** The messages of a conversation that is not there yet. */
const newMessagesPath = () => `/v1/conversations/${randomUUID()}/messages`;

test('a JSON answer has turn, messages, context and usage, without thoughts and signatures', async () => {
  const send = handWrittenSend(() => ({ frames: () => framesOf(finish) }));
  const chat = await serveForTest({ collaborators: send });
  const sent = greeting();

  const response = await chat.call(newMessagesPath(), { body: sent });
  const text = await response.text();

  expect(response.status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({
    turn: { id: 't_1', state: 'done', messageId: sent.message.id, answerId: 'm_1' },
    userMessage: { id: sent.message.id, role: 'user', parts: sent.message.parts },
    message: { id: 'm_1', role: 'model', parts: [{ type: 'text', text: 'Fine.' }] },
    context: someContext,
    usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 10 },
    replayed: false,
  });
  expect(text).not.toMatch(/private thought|signature/);
});

test('the JSON answer of a defect reveals nothing of it', async () => {
  const sendMessage = () => Promise.reject(new Error('secret reason'));
  const chat = await serveForTest({ collaborators: { sendMessage } });

  const error = await errorOf(await chat.call(newMessagesPath(), { body: greeting() }));

  expect(error).toMatchObject({ http: 500, status: 'INTERNAL', reason: 'INTERNAL' });
  expect(error.text).not.toContain('secret reason');
  expect(chat.logs).toMatchObject([{ severity: 'ERROR', fields: { status: 500 } }]);
  expect(JSON.stringify(chat.logs)).not.toContain('secret reason');
});

const sse = { accept: 'text/event-stream' };

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
  const chat = await serveForTest({ overrides });
  const response = await chat.call(newMessagesPath(), { body: greeting(), headers: sse });
  (await steered.call()).say('Half an answer');

  shutdown.abort();
  await drainChat(chat.dependencies, new Set(), 50);
  const { text, isWhole } = await readAll(response);

  expect(isWhole).toBe(false);
  expect(text).toContain('"delta":"Half an answer"');
  expect(text).not.toMatch(/text-end|finish|DONE/);
});

const delta = (id: number, text: string): StreamFrame => ({
  id,
  chunk: { type: 'text-delta', id: 'p0', delta: text },
});

test('a streamed answer has the headers that proxies and the AI SDK need', async () => {
  const { sendMessage } = handWrittenSend(() => ({ frames: () => framesOf(finish) }));
  const chat = await serveForTest({ collaborators: { sendMessage } });

  const response = await chat.call(newMessagesPath(), { body: greeting(), headers: sse });

  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-vercel-ai-ui-message-stream': 'v1',
    'x-turn-id': 't_1',
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
});

test('a streamed answer ends in error and finish when its frames break', async () => {
  async function* frames() {
    yield delta(4, 'half');
    await Promise.reject(new Error('secret reason'));
  }
  const { sendMessage } = handWrittenSend(() => ({ frames }));
  const chat = await serveForTest({ collaborators: { sendMessage } });

  const response = await chat.call(newMessagesPath(), { body: greeting(), headers: sse });
  const text = await response.text();

  // Without ids: whoever resumes does so after the last frame of the turn.
  expect(text).toContain('\n\ndata: {"type":"error"');
  expect(text).toContain('\n\ndata: {"type":"finish","finishReason":"error"');
  expect(text).toMatch(/data: \[DONE\]\n\n$/);
  expect(text).not.toContain('secret reason');
});

test('a streamed answer reads no more than a slow reader takes', async () => {
  let made = 0;
  async function* frames() {
    for (; made < 2_000; made++) yield await Promise.resolve(delta(made, 'x'.repeat(64 * 1024)));
  }
  const { sendMessage } = handWrittenSend(() => ({ frames }));
  const chat = await serveForTest({ collaborators: { sendMessage } });
  const token = await chat.keys.sign(idTokenClaims(chat.project, 'alice'));
  const json = JSON.stringify(greeting());
  const socket = connect(Number(new URL(chat.url).port), '127.0.0.1');
  socket.pause();
  socket.write(
    `POST ${newMessagesPath()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      `Accept: text/event-stream\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  );

  await eventually('the first frames', () => Promise.resolve(made > 10 || undefined));
  let before = -1;
  await eventually('a standstill', async () => {
    const isStill = before === made;
    before = made;
    await Promise.resolve();
    return isStill || undefined;
  });

  expect(made).toBeLessThan(1_000);
  socket.destroy();
  await once(socket, 'close');
});
