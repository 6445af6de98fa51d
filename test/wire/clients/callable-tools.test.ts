import { randomUUID } from 'node:crypto';
import { httpsCallableFromURL } from '@firebase/functions';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idTokenClaims } from '#test/support/token-keys.ts';
import { firebaseFunctions } from '#test/support/wire/firebase-functions.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';
import type { WireServer } from '#test/support/wire/wire-server.ts';

interface Chunk {
  type: string;
  toolCallId?: string;
}

interface Result {
  turn: { state: string; openCalls?: { callId: string; name: string }[] };
  message: { parts: { type: string; text?: string }[] };
}

let server: WireServer;
let signedIn: ReturnType<typeof firebaseFunctions>;
beforeAll(async () => {
  server = await startToolServer();
  const token = await server.keys.sign(idTokenClaims(server.project, 'alice'));
  signedIn = firebaseFunctions(server.project, token);
});
afterAll(async () => {
  await signedIn.close();
  await server.stop();
});

const chat = () =>
  httpsCallableFromURL<unknown, Result, Chunk>(signedIn.functions, `${server.url}/callable/chat`);

const saying = (text: string) => ({ id: randomUUID(), parts: [{ type: 'text', text }] });

/** A conversation whose answer waits for `locate`. */
async function waiting() {
  const conversationId = await conversationWithTools(server);
  const message = saying('Let me see.\ncall locate {}\nthen\nYou are in Oslo.');
  const { data } = await chat()({ conversationId, message });
  return { conversationId, turn: data.turn };
}

const toolResults = [{ callId: 't_1_c0', output: { city: 'Oslo' } }];

test('a callable returns waiting calls and continues with their results', async () => {
  const { conversationId, turn } = await waiting();

  const { data } = await chat()({ conversationId, toolResults });

  expect(turn).toMatchObject({
    state: 'awaiting_tool',
    openCalls: [{ callId: 't_1_c0', name: 'locate' }],
  });
  expect(data.turn.state).toBe('done');
  expect(data.message.parts.at(-1)).toMatchObject({ text: 'You are in Oslo.' });
});

test('a callable streams the rest of an answer after its results', async () => {
  const { conversationId } = await waiting();

  const { stream, data } = await chat().stream({ conversationId, toolResults });
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);

  expect(chunks.map(({ type }) => type)).toEqual([
    'start',
    'tool-output-available',
    'start-step',
    'text-start',
    'text-delta',
    'text-end',
    'data-context',
    'finish',
  ]);
  expect((await data).turn.state).toBe('done');
});

test.each([
  ['of an unknown call', { toolResults: [{ callId: 't_1_c5', output: 1 }] }, 'not-found'],
  ['without an output', { toolResults: [{ callId: 't_1_c0' }] }, 'invalid-argument'],
  ['beside a message', { toolResults, message: saying('Hi.') }, 'invalid-argument'],
])('a callable refuses results %s', async (_, data, code) => {
  const { conversationId } = await waiting();

  await expect(chat()({ conversationId, ...data })).rejects.toMatchObject({
    code: `functions/${code}`,
  });
});
