import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { sseText } from '#functions/chat/http/sse.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { errorOf, startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import { eventually } from '#test/support/eventually.ts';
import {
  finish,
  finishedTurn,
  framesOf,
  greeting,
  handWrittenSend,
  newMessagesPath,
  someContext,
} from '#test/support/compaction/hand-written-turn.ts';
import { overloaded } from '#test/support/model-down.ts';
import { idTokenClaims } from '#test/support/token-keys.ts';

let chat: ChatServer | undefined;
afterEach(async () => {
  await chat?.stop();
  chat = undefined;
});

const delta = (id: number, text: string): StreamFrame => ({
  id,
  chunk: { type: 'text-delta', id: 'p0', delta: text },
});
const sse = { accept: 'text/event-stream' };

describe('a streamed answer', () => {
  test('a streamed answer is id and one data line per frame, and [DONE]', async () => {
    const { sendMessage } = handWrittenSend(() => ({
      frames: () => framesOf(delta(0, '안녕 👋🏽\r\ndata: x\u2028'), finish),
    }));
    chat = await startChatServer({ collaborators: { sendMessage } });

    const response = await chat.call(newMessagesPath(), { body: greeting(), headers: sse });

    expect(await response.text()).toBe(
      'id: 0\ndata: {"type":"text-delta","id":"p0","delta":"안녕 👋🏽\\r\\ndata: x\\u2028"}\n\n' +
        'id: 9\ndata: {"type":"finish","finishReason":"stop","messageMetadata":{"generation":3}}\n\n' +
        'data: [DONE]\n\n',
    );
  });

  test('a streamed answer has the headers that proxies and the AI SDK need', async () => {
    const { sendMessage } = handWrittenSend(() => ({ frames: () => framesOf(finish) }));
    chat = await startChatServer({ collaborators: { sendMessage } });

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

  test('a streamed answer arrives frame by frame, not at the end', async () => {
    const gate = Promise.withResolvers<void>();
    async function* frames() {
      yield delta(0, 'first');
      await gate.promise;
      yield finish;
    }
    const { sendMessage } = handWrittenSend(() => ({ frames }));
    chat = await startChatServer({ collaborators: { sendMessage } });

    const response = await chat.call(newMessagesPath(), { body: greeting(), headers: sse });
    const reader = response.body?.getReader();
    const first = await reader?.read();

    expect(new TextDecoder().decode(first?.value)).toContain('first');
    gate.resolve();
    await reader?.cancel();
  });

  test('a streamed answer sends comments while the model is silent', async () => {
    const gate = Promise.withResolvers<void>();
    async function* frames() {
      await gate.promise;
      yield finish;
    }
    const { sendMessage } = handWrittenSend(() => ({ frames }));
    chat = await startChatServer({ collaborators: { sendMessage, heartbeatMs: 20 } });

    const response = await chat.call(newMessagesPath(), { body: greeting(), headers: sse });
    let text = '';
    for await (const piece of response.body ?? []) {
      text += new TextDecoder().decode(piece);
      if (text.split(': keep-alive\n\n').length > 3) gate.resolve();
    }

    expect(text).toMatch(/^(: keep-alive\n\n){3,}id: 9\n/);
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
  });

  test('a streamed answer ends in error and finish when its frames break', async () => {
    async function* frames() {
      yield delta(4, 'half');
      await Promise.reject(new Error('secret reason'));
    }
    const { sendMessage } = handWrittenSend(() => ({ frames }));
    chat = await startChatServer({ collaborators: { sendMessage } });

    const response = await chat.call(newMessagesPath(), { body: greeting(), headers: sse });
    const text = await response.text();

    // Without ids: whoever resumes does so after the last frame of the turn.
    expect(text).toContain('\n\ndata: {"type":"error"');
    expect(text).toContain('\n\ndata: {"type":"finish","finishReason":"error"');
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    expect(text).not.toContain('secret reason');
  });

  test('a streamed answer continues after a hang-up, and the request waits for it', async () => {
    const gate = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    async function* frames() {
      try {
        yield delta(0, 'first');
        await gate.promise;
        yield finish;
      } finally {
        left.resolve();
      }
    }
    const ended: string[] = [];
    const { sendMessage } = handWrittenSend((request) => ({
      frames,
      result: gate.promise.then(() => {
        ended.push('turn');
        return { turn: finishedTurn(request, 'x'), context: someContext, replayed: false };
      }),
    }));
    chat = await startChatServer({ collaborators: { sendMessage, heartbeatMs: 20 } });
    const abort = new AbortController();
    const response = await chat.call(newMessagesPath(), {
      body: greeting(),
      headers: sse,
      signal: abort.signal,
    });
    await response.body?.getReader().read();
    abort.abort();

    expect(ended).toEqual([]);
    gate.resolve();
    await left.promise;
    await eventually('the end of the turn', () => Promise.resolve(ended[0]));
  });

  test('an error before the first byte uses the HTTP status', async () => {
    chat = await startChatServer({
      collaborators: { sendMessage: () => Promise.reject(overloaded(1_200)) },
    });

    const response = await chat.call(newMessagesPath(), { body: greeting(), headers: sse });

    expect(response.headers.get('retry-after')).toBe('2');
    const error = await errorOf(response);
    expect(error).toMatchObject({ http: 503, status: 'UNAVAILABLE', reason: 'MODEL_OVERLOADED' });
    expect(error.text).toContain('"retryDelay":"1.2s"');
  });

  test('a streamed answer reads no more than a slow reader takes', async () => {
    let made = 0;
    async function* frames() {
      for (; made < 2_000; made++) yield await Promise.resolve(delta(made, 'x'.repeat(64 * 1024)));
    }
    const { sendMessage } = handWrittenSend(() => ({ frames }));
    chat = await startChatServer({ collaborators: { sendMessage } });
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
});

test('a stream’s text has a comment after every interval of silence, none before', async () => {
  const clock = createManualClock();
  const gate = Promise.withResolvers<StreamFrame>();
  async function* frames() {
    yield await gate.promise;
  }
  const { signal: left } = new AbortController();
  const text = sseText(frames(), { clock, heartbeatMs: 8_000, generation: 0, left });

  const first = text.next();
  clock.advance(7_999);
  clock.advance(1);
  expect((await first).value).toBe(': keep-alive\n\n');
  const second = text.next();
  gate.resolve(finish);
  expect((await second).value).toMatch(/^id: 9\n/);
  expect((await text.next()).value).toBe('data: [DONE]\n\n');
  expect((await text.next()).done).toBe(true);
});
