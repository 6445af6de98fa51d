import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import { errorOf, startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';

let chat: ChatServer | undefined;
afterEach(async () => {
  await chat?.stop();
  chat = undefined;
});

const TURN = 10_000_000;

const body = (text: string) => ({ message: { id: randomUUID(), parts: [{ type: 'text', text }] } });

/** A conversation of which the first `answered` turns are answered, and the one after it is on its way. */
async function conversation(answered: number) {
  const steered = steeredStreamer();
  const server = await startChatServer({ overrides: { model: steered.model } });
  chat = server;
  const path = `/v1/conversations/${randomUUID()}`;
  const headers = { accept: 'text/event-stream' };
  const send = (n: number) =>
    server.call(`${path}/messages`, { body: body(`Question ${n}`), headers });
  const answer = async (n: number) => {
    const call = await steered.call(n - 1);
    call.say(`Answer ${n}`);
    call.end();
  };
  for (let n = 1; n <= answered; n++) {
    const response = await send(n);
    await answer(n);
    await response.text();
  }
  const stream = (cursor?: number) =>
    server.call(`${path}/stream`, {
      ...(cursor !== undefined && { headers: { 'last-event-id': String(cursor) } }),
    });
  return { send, answer, stream };
}

const idsOf = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

test('a conversation stream has ids that name the turn and rise by one', async () => {
  const { send, answer, stream } = await conversation(1);
  await send(2);

  const response = await stream();
  await answer(2);

  const ids = idsOf(await response.text());
  expect(ids).toEqual(ids.map((_, i) => 2 * TURN + i));
  expect(response.headers.get('x-turn-id')).toBe('t_2');
});

test('a conversation stream resumes the cursor’s turn while another one runs', async () => {
  const { send, stream } = await conversation(1);
  await send(2);

  const response = await stream(TURN + 1);

  const text = await response.text();
  expect(idsOf(text)).toEqual([2, 3, 4, 5].map((id) => TURN + id));
  expect(text).toContain('Answer 1');
});

test('a conversation stream gives the end of a turn finished meanwhile', async () => {
  const { stream } = await conversation(1);

  const response = await stream(TURN + 3);

  expect(response.status).toBe(200);
  expect(idsOf(await response.text())).toEqual([TURN + 4, TURN + 5]);
});

test('a conversation stream continues with the next turn’s first event', async () => {
  const { stream } = await conversation(2);

  const response = await stream(TURN + 5);

  const text = await response.text();
  expect(idsOf(text)[0]).toBe(2 * TURN);
  expect(text).toContain('Answer 2');
});

test('a conversation stream follows a next turn that still runs', async () => {
  const { send, answer, stream } = await conversation(1);
  await send(2);

  const response = await stream(TURN + 5);
  await answer(2);

  expect(await response.text()).toContain('Answer 2');
});

test('a conversation stream ends an EventSource after the last turn’s last event', async () => {
  const { stream } = await conversation(2);

  expect((await stream(2 * TURN + 5)).status).toBe(204);
});

test('a conversation stream applies a cursor without turn to the running one', async () => {
  const { send, answer, stream } = await conversation(1);
  await send(2);

  const response = await stream(0);
  await answer(2);

  expect(idsOf(await response.text())[0]).toBe(2 * TURN + 1);
});

test.each([
  ['behind the end of its turn', TURN + 6, String(TURN + 5)],
  ['of a turn that has not been', 3 * TURN, undefined],
])('a conversation stream refuses a cursor %s', async (_, cursor, lastFrameId) => {
  const { stream } = await conversation(1);

  const error = await errorOf(await stream(cursor));

  expect(error).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
  expect(error.metadata.lastFrameId).toBe(lastFrameId);
});
