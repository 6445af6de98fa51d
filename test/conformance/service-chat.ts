import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Client } from './judge/judge.ts';
import { match } from './judge/match.ts';
import { eventually } from '#test/support/eventually.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const timings = { silenceMs: 10_000, callMs: 10_000, backOffMs: [20], watchMs: 100 };

interface ServiceChat {
  server: Awaited<ReturnType<typeof startWireServer>>;
  ask: (name: string, value: unknown) => Promise<unknown>;
  /** Resolves when the client shows these messages. */
  shows: (messages: readonly object[]) => Promise<unknown>;
}

/** Has a client show a chat of the service itself. */
export async function withServiceChat(
  { line }: Client,
  work: (chat: ServiceChat) => Promise<void>,
): Promise<void> {
  const server = await startWireServer();
  onTestFinished(() => server.stop());
  const token = (await server.authorization()).replace('Bearer ', '');
  line.tokens = () => token;
  const chat = randomUUID();
  const ask = async (name: string, value: unknown) =>
    (await line.ask({ name, chat, value })).result;
  const shows = (messages: readonly object[]) =>
    eventually('it shows the messages', async () => {
      const state = await ask('state', true);
      const { problems } = match({ messages }, state, { variables: new Map(), now: new Date() });
      return problems.length === 0 || undefined;
    });
  await ask('create', { baseUrl: server.url, store: randomUUID(), timings });
  await ask('open', true);
  await work({ server, ask, shows });
  await ask('close', true);
}

/** Throws where a client does not go on with an answer whose connection is cut in the middle. */
export const showCutAnswer = (client: Client): Promise<void> =>
  withServiceChat(client, async ({ server, ask, shows }) => {
    await ask('send', 'Hello');
    const call = await server.callOf('Hello');
    call.say('Half');
    await shows([{}, { text: 'Half', state: 'running' }]);
    server.server.closeAllConnections();
    call.say(' and whole.');
    call.end();
    await shows([{}, { text: 'Half and whole.', state: 'done' }]);
  });
