import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startKotlin, type Clients } from '#clients/conformance/clients.ts';
import type { Client } from '#clients/conformance/judge.ts';
import { MavenUnreachable } from '#clients/conformance/kotlin.ts';
import { match } from '#clients/conformance/match.ts';
import { allScenarios } from '#clients/conformance/scenario.ts';
import { eventually } from '#test/support/eventually.ts';
import { INSTALL_MAVEN, missingMaven } from '#test/support/tools/missing-tools.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import { kotlinPages } from './kotlin-pages.ts';
import { playAll } from './play-all.ts';

const { pages, files } = kotlinPages();
const missing = missingMaven();
const isCi = process.env.CI === 'true';

/** The compiler on a busy machine, and Maven's downloads on a new one. */
const BUILD_TIMEOUT_MS = 900_000;

const timings = { silenceMs: 10_000, callMs: 10_000, backOffMs: [20], watchMs: 100 };

/** A JVM takes its time: the tests play every fourth, `npm run conformance -- --client kotlin` all of them. */
const scenarios = allScenarios().filter(
  ({ name }, index) => index % 4 === 0 || name.includes('a store'),
);

/** Maven's repository is out of reach: nothing can be run. */
let isUnreachable = false;

let clients: Clients | undefined;

async function start(): Promise<Clients> {
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} not found; ${INSTALL_MAVEN}`);
  try {
    clients = await startKotlin(files);
    return clients;
  } catch (error) {
    if (!(error instanceof MavenUnreachable) || isCi) throw error;
    isUnreachable = true;
    console.log('not run: the client for Kotlin (Maven cannot reach its repository)');
    const nothing = () => Promise.resolve();
    return { play: nothing, use: nothing, stop: nothing };
  }
}

/** Lends a client out that shows a chat of the service itself. */
async function withChat(
  work: (chat: {
    server: Awaited<ReturnType<typeof startWireServer>>;
    line: Client['line'];
    ask: (name: string, value: unknown) => Promise<unknown>;
    /** Resolves when it shows these messages. */
    shows: (messages: readonly object[]) => Promise<unknown>;
  }) => Promise<void>,
): Promise<void> {
  const server = await startWireServer();
  onTestFinished(() => server.stop());
  const token = (await server.authorization()).replace('Bearer ', '');
  await clients?.use(async ({ line }) => {
    line.tokens = () => token;
    const chat = randomUUID();
    const ask = async (name: string, value: unknown) =>
      (await line.ask({ name, chat, value })).result;
    const shows = (messages: readonly object[]) =>
      eventually('it shows the messages', async () => {
        const variables = new Map();
        const { problems } = match({ messages }, await ask('state', true), {
          variables,
          now: new Date(),
        });
        return problems.length === 0 || undefined;
      });
    await ask('create', { baseUrl: server.url, store: randomUUID(), timings });
    await ask('open', true);
    await work({ server, line, ask, shows });
    await ask('close', true);
  });
}

describe.skipIf(missing.length > 0 && !isCi)('the client for Kotlin on the JVM', () => {
  beforeEach((context) => {
    if (isUnreachable) context.skip('Maven cannot reach its repository');
  });

  playAll('kotlin', start, { startMs: BUILD_TIMEOUT_MS, scenarios });

  test('it goes on with an answer of the service itself whose connection was cut', async () => {
    await withChat(async ({ server, ask, shows }) => {
      await ask('send', 'Hello');
      const call = await server.callOf('Hello');
      call.say('Half');
      await shows([{}, { text: 'Half', state: 'running' }]);
      server.server.closeAllConnections();
      call.say(' and whole.');
      call.end();
      await expect(shows([{}, { text: 'Half and whole.', state: 'done' }])).resolves.toBe(true);
    });
  });

  test('it counts the messages that are not sent yet', async () => {
    await withChat(async ({ server, line, ask, shows }) => {
      const { tokens } = line;
      line.tokens = () => undefined;
      await ask('send', 'Hello');
      await expect(ask('pendingCount', true)).resolves.toBe(1);
      line.tokens = tokens;
      await ask('setActive', true);
      (await server.callOf('Hello')).end();
      await shows([{ state: 'sent' }, {}]);
      await expect(ask('pendingCount', true)).resolves.toBe(0);
    });
  });

  test('the Kotlin of its pages compiles with it', () => {
    expect(pages).toEqual(['android-kotlin.md', 'firebase-callable.md', 'README.md']);
  });
});
