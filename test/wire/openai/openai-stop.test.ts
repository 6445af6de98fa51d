import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { eventually } from '#test/support/eventually.ts';
import { bodyOf, clientOf, newText } from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer({ environment: { DISCONNECT_GRACE_MS: '0' } });
const patient = await startWireServer();
afterAll(() => Promise.all([server.stop(), patient.stop()]));

/** A chat completion that is stopped in the middle of its words. */
async function stopped(at: typeof server, headers: Record<string, string> = {}) {
  const { client } = await clientOf(at);
  const conversationId = randomUUID();
  const text = newText();
  const body = { ...bodyOf(text, conversationId), stream: true as const };
  const asked = client.chat.completions.create(body, { headers });
  const call = await at.callOf(text);
  call.say('Half');
  const stream = await asked;
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'Half') break;
  stream.controller.abort();
  const turn = async () => (await readTurns(at.dependencies.store, conversationId, [1]))[0]?.value;
  return { client, call, body, conversationId, turn };
}

describe('a client of OpenAI that stops', () => {
  test('its stop ends the answer on the server, and its text stays', async () => {
    const { call, turn } = await stopped(server);

    const ended = await eventually('the turn ends', async () => {
      const now = await turn();
      return now?.state === 'running' ? undefined : now;
    });

    expect(ended).toMatchObject({ state: 'cancelled', contents: [{ parts: [{ text: 'Half' }] }] });
    expect(call.signal.aborted).toBe(true);
  });

  test('the header X-On-Disconnect lets the answer go on', async () => {
    const { call, turn } = await stopped(server, { 'X-On-Disconnect': 'continue' });
    call.say(' and whole.');
    call.end();

    const ended = await eventually('the turn ends', async () => {
      const now = await turn();
      return now?.state === 'running' ? undefined : now;
    });

    expect(ended?.state).toBe('done');
  });

  test('its next message takes the place of the stopped answer at once', async () => {
    const { client, conversationId, turn } = await stopped(patient);
    await eventually('the reader has left', async () => (await turn())?.leftAt);
    const text = newText();
    const next = client.chat.completions.create(bodyOf(text, conversationId));
    await patient.answer(text, 'Next.');

    expect((await next).choices[0]?.message.content).toBe('Next.');
    expect((await turn())?.state).toBe('cancelled');
  });
});
