import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { contentText } from '#shared/models/content.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { eventually } from '#test/support/eventually.ts';
import { ReactNativeEventSource } from '#test/support/wire/react-native-sse.ts';
import { startWireServer, type WireServer } from '#test/support/wire/wire-server.ts';

async function start() {
  const server = await startWireServer({ collaborators: { heartbeatMs: 200 } });
  onTestFinished(() => server.stop());
  return server;
}

const storedTurns = async ({ dependencies }: WireServer, conversationId: string) =>
  (await readTurns(dependencies.store, conversationId, [1, 2])).map(({ value }) => value);

const sendsOf = ({ logs }: WireServer) =>
  logs.filter(({ fields }) => fields['operation'] === 'sendMessage').length;

test('react-native-sse with default options reconnecting three times is one message and model call', async () => {
  const server = await start();
  const conversationId = randomUUID();
  const events: { data: string | null }[] = [];
  const text = 'Hello';
  const source = new ReactNativeEventSource(
    `${server.url}/v1/conversations/${conversationId}/messages`,
    {
      method: 'POST',
      headers: {
        authorization: await server.authorization(),
        'content-type': 'application/json',
      },
      body: JSON.stringify({ message: { id: randomUUID(), parts: [{ type: 'text', text }] } }),
    },
  );
  source.addEventListener('message', (event) => void events.push(event));

  const call = await server.callOf(text);
  await delay(500); // a quiet model: comments come through the library's parser
  call.say('안녕하세요');
  call.end();
  await eventually(
    'the third POST',
    () => Promise.resolve(sendsOf(server) === 3 || undefined),
    40_000,
  );
  source.close();

  expect(server.callsOf(text)).toHaveLength(1);
  const turns = await storedTurns(server, conversationId);
  expect(turns.map(({ user }) => contentText(user))).toEqual([text]);
  const chunks = events
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data ?? ''));
  const deltas = chunks.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta);
  expect(deltas).toEqual(['안녕하세요']);
  expect(chunks.map(({ type }) => type)).toEqual([
    'start',
    'text-start',
    'text-delta',
    'text-end',
    'data-context',
    'finish',
  ]);
});
