import { describe, expect, test } from 'vitest';
import { startClients, type Clients } from './launchers/clients.ts';
import { swiftTools } from '#test/support/tools/missing-tools.ts';
import { playShare } from './play-share.ts';
import { showCutAnswer } from './service-chat.ts';
import { swiftPages } from './swift-pages.ts';

const { pages, files } = swiftPages();

/** The compiler on a busy machine. */
const BUILD_TIMEOUT_MS = 600_000;

let clients: Clients | undefined;

async function start(): Promise<Clients> {
  clients = await startClients('swift', files);
  return clients;
}

describe.skipIf(!swiftTools())('the client for Swift', () => {
  playShare('swift', start, BUILD_TIMEOUT_MS);

  test('it goes on with an answer of the service itself whose connection was cut', async () => {
    await expect(clients?.use(showCutAnswer)).resolves.toBeUndefined();
  });

  test('the Swift of its pages compiles with it', () => {
    expect(pages).toEqual(['firebase-callable.md', 'ios-swift.md', 'README.md']);
  });
});
