import { randomUUID } from 'node:crypto';
import { EventSource } from 'eventsource';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '#test/support/eventually.ts';
import { startWireServer, type WireServer } from '#test/support/wire/wire-server.ts';

async function start() {
  const server = await startWireServer();
  onTestFinished(() => server.stop());
  const conversationId = randomUUID();
  return { server, path: `/v1/conversations/${conversationId}` };
}

/** A message that nobody reads the answer of here. */
async function post(server: WireServer, path: string, text: string) {
  const body = { message: { id: randomUUID(), parts: [{ type: 'text', text }] } };
  const headers = { accept: 'text/event-stream' };
  const response = await server.call(`${path}/messages`, { body, headers });
  await response.body?.cancel();
}

/** An EventSource as the specification has it; only the token is put into its requests. */
async function listen(server: WireServer, path: string) {
  const authorization = await server.authorization();
  const events: { id: string; chunk: { type: string; delta?: string } }[] = [];
  const requests: { lastEventId: string | undefined; status: number }[] = [];
  const source = new EventSource(`${server.url}${path}`, {
    fetch: async (url, init) => {
      const headers = { ...init.headers, authorization };
      const response = await fetch(url, { ...init, headers });
      requests.push({ lastEventId: init.headers['Last-Event-ID'], status: response.status });
      return response;
    },
  });
  onTestFinished(() => source.close());
  source.addEventListener('message', ({ data, lastEventId }) => {
    if (data !== '[DONE]') events.push({ id: lastEventId, chunk: JSON.parse(data) });
  });
  const until = (what: string, isSo: () => boolean) =>
    eventually(what, () => Promise.resolve(isSo() || undefined));
  const said = () => events.map(({ chunk }) => chunk.delta ?? '').join('');
  return {
    requests,
    ids: () => events.map(({ id }) => Number(id)),
    said,
    opened: () => until('it is open', () => source.readyState === source.OPEN),
    heard: (text: string) => until(`it has heard ${text}`, () => said() === text),
    stopped: () => until('it has stopped', () => source.readyState === source.CLOSED),
  };
}

const rising = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

test('an EventSource continues after the last event without a gap and stops at 204', async () => {
  const { server, path } = await start();
  await post(server, path, 'Hello');
  const call = await server.callOf('Hello');
  const source = await listen(server, `${path}/turns/t_1/stream`);
  await source.opened();
  for (const said of ['one ', 'one two ']) {
    call.say(said.slice(-4));
    await source.heard(said);
  }
  const lastId = source.ids().at(-1);

  server.server.closeAllConnections();
  for (const said of ['three ', 'four']) call.say(said);
  call.end();
  await source.stopped();

  expect(source.said()).toBe('one two three four');
  expect(source.ids()).toEqual(rising(0, source.ids().length));
  expect(source.requests).toEqual([
    { lastEventId: undefined, status: 200 },
    { lastEventId: String(lastId), status: 200 },
    { lastEventId: String(source.ids().at(-1)), status: 204 },
  ]);
});
