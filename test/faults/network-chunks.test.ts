import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { openServer, type OpenServer } from '#infra/local/processes/open-server.ts';
import { collect, request, textOf } from '../support/chat/sending.ts';

const ANSWER = 'é 한 👩‍👩‍👧 𝒳';
const event = (text: string, finishReason?: string) =>
  `data: ${JSON.stringify({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason, index: 0 }],
  })}\r\n\r\n`;
const STREAM = Buffer.from(event(ANSWER) + event('.', 'STOP'));

/** Between two writes, so that they arrive as two chunks. */
const BETWEEN_WRITES_MS = 2;

let server: OpenServer;
/** Where the stream is cut in two. */
let cutAt = 0;
beforeAll(async () => {
  const listening = createServer((incoming, response) => {
    incoming.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.socket?.setNoDelay(true);
    response.write(STREAM.subarray(0, cutAt));
    void wait(BETWEEN_WRITES_MS).then(() => response.end(STREAM.subarray(cutAt)));
  });
  server = await openServer(listening);
});
afterAll(() => server.close());

test('a model stream cut into two network chunks at any byte gives the same answer', async () => {
  const model = createGeminiModel({
    apiKey: 'local',
    baseUrl: server.url,
    firstEventTimeoutMs: 10_000,
    eventIdleTimeoutMs: 10_000,
    requestTimeoutMs: 10_000,
  });
  const dependencies = chatDependencies({ model });
  const others: { cutAt: number; text: string }[] = [];

  for (cutAt = 1; cutAt < STREAM.length; cutAt++) {
    const handle = await sendMessage(dependencies, request(randomUUID(), 'Say it.'));
    const text = textOf(await collect(handle.frames()));
    if (text !== `${ANSWER}.`) others.push({ cutAt, text });
  }

  expect(STREAM.length).toBeGreaterThan(200);
  expect(others).toEqual([]);
}, 60_000);
