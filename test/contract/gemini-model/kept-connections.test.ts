import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import { failureOf, never, request } from '#test/support/gemini-model-calls.ts';

const answer = JSON.stringify({
  candidates: [{ finishReason: 'STOP', content: { role: 'model', parts: [{ text: 'Fine.' }] } }],
});

/** A model behind a server that answers each connection once, then closes it when it is used again. */
async function onceAConnection({ answers = Infinity } = {}) {
  const served = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let parallel = 1;
  let left = answers;
  const server = createServer((incoming, response) => {
    const { socket } = incoming;
    if (served.has(socket) || left <= 0) {
      socket.destroy();
      return;
    }
    served.add(socket);
    left -= 1;
    incoming.resume();
    waiting.push(() => response.setHeader('content-type', 'application/json').end(answer));
    if (waiting.length === parallel) for (const say of waiting.splice(0)) say();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const model = createGeminiModel({
    baseUrl: `http://127.0.0.1:${port}`,
    firstEventTimeoutMs: 30_000,
    eventIdleTimeoutMs: 30_000,
    requestTimeoutMs: 30_000,
  });
  return {
    served,
    /** So many calls, answered when all of them are there. */
    call: (count: number) => {
      parallel = count;
      return Promise.all(Array.from({ length: count }, () => model.generate(request, never)));
    },
  };
}

test('a call that finds every kept connection closed is answered over a new one', async () => {
  const { served, call } = await onceAConnection();
  await call(6);

  const [again] = await call(1);

  expect(again?.parts).toEqual([{ text: 'Fine.' }]);
  expect(served.size).toBe(7);
});

test('a call that a new connection refuses, too, fails as before', async () => {
  const { call } = await onceAConnection({ answers: 1 });
  await call(1);

  expect(await failureOf(call(1))).toMatchObject({ reason: 'MODEL_OVERLOADED' });
});
