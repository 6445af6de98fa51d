import { beforeEach, describe, expect, test } from 'vitest';
import { startClients, type Clients } from './launchers/clients.ts';
import { MavenUnreachable } from './launchers/kotlin.ts';
import { INSTALL_MAVEN, missingMaven } from '#test/support/tools/missing-tools.ts';
import { showCutAnswer, withServiceChat } from './service-chat.ts';
import { kotlinPages } from './kotlin-pages.ts';
import { playShare } from './play-share.ts';

const { pages, files } = kotlinPages();
const missing = missingMaven();
const isCi = process.env.CI === 'true';

/** The compiler on a busy machine, and Maven's downloads on a new one. */
const BUILD_TIMEOUT_MS = 900_000;

/** Maven's repository is out of reach: nothing can be run. */
let isUnreachable = false;

let clients: Clients | undefined;

async function start(): Promise<Clients> {
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} not found; ${INSTALL_MAVEN}`);
  try {
    clients = await startClients('kotlin', files);
    return clients;
  } catch (error) {
    if (!(error instanceof MavenUnreachable) || isCi) throw error;
    isUnreachable = true;
    console.log('not run: the client for Kotlin (Maven cannot reach its repository)');
    const nothing = () => Promise.resolve();
    return { play: nothing, use: nothing, stop: nothing };
  }
}

describe.skipIf(missing.length > 0 && !isCi)('the client for Kotlin on the JVM', () => {
  beforeEach((context) => {
    if (isUnreachable) context.skip('Maven cannot reach its repository');
  });

  playShare('kotlin', start, BUILD_TIMEOUT_MS);

  test('it goes on with an answer of the service itself whose connection was cut', async () => {
    await expect(clients?.use(showCutAnswer)).resolves.toBeUndefined();
  });

  test('it counts the messages that are not sent yet', async () => {
    await clients?.use((client) =>
      withServiceChat(client, async ({ server, ask, shows }) => {
        const { tokens } = client.line;
        client.line.tokens = () => undefined;
        await ask('send', 'Hello');
        await expect(ask('pendingCount', true)).resolves.toBe(1);
        client.line.tokens = tokens;
        await ask('setActive', true);
        (await server.callOf('Hello')).end();
        await shows([{ state: 'sent' }, {}]);
        await expect(ask('pendingCount', true)).resolves.toBe(0);
      }),
    );
  });

  test('the Kotlin of its pages compiles with it', () => {
    expect(pages).toEqual(['android-kotlin.md', 'firebase-callable.md', 'README.md']);
  });
});
