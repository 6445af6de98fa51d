import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { Client } from '#clients/conformance/judge.ts';
import { match } from '#clients/conformance/match.ts';
import { eventually } from '#test/support/eventually.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const timings = { silenceMs: 10_000, callMs: 10_000, backOffMs: [20], watchMs: 100 };

/** Has a client show an answer of the service itself whose connection is cut in the middle. Throws if it does not. */
export async function showCutAnswer({ line }: Client): Promise<void> {
  const server = await startWireServer();
  onTestFinished(() => server.stop());
  const token = (await server.authorization()).replace('Bearer ', '');
  line.tokens = () => token;
  const chat = randomUUID();
  const ask = async (name: string, value: unknown) =>
    (await line.ask({ name, chat, value })).result;
  const shows = (answer: object) =>
    eventually('it shows the answer', async () => {
      const { problems } = match({ messages: [{}, answer] }, await ask('state', true), {
        variables: new Map(),
        now: new Date(),
      });
      return problems.length === 0 || undefined;
    });
  await ask('create', { baseUrl: server.url, store: randomUUID(), timings });
  await ask('open', true);
  await ask('send', 'Hello');
  const call = await server.callOf('Hello');
  call.say('Half');
  await shows({ text: 'Half', state: 'running' });
  server.server.closeAllConnections();
  call.say(' and whole.');
  call.end();
  await shows({ text: 'Half and whole.', state: 'done' });
  await ask('close', true);
}
