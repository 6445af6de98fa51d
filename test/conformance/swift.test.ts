import { describe, expect, test } from 'vitest';
import { allScenarios } from './judge/scenario.ts';
import { startClients, type Clients } from './launchers/clients.ts';
import { swiftTools } from '#test/support/tools/missing-tools.ts';
import { playAll } from './play-all.ts';
import { showCutAnswer } from './service-chat.ts';
import { swiftPages } from './swift-pages.ts';

const { pages, files } = swiftPages();

/** The compiler on a busy machine. */
const BUILD_TIMEOUT_MS = 600_000;

/** The tests play every fourth, `npm run conformance -- --client swift` all of them. */
const scenarios = allScenarios().filter((_, index) => index % 4 === 1);

let clients: Clients | undefined;

async function start(): Promise<Clients> {
  clients = await startClients('swift', files);
  return clients;
}

describe.skipIf(!swiftTools())('the client for Swift', () => {
  playAll('swift', start, { startMs: BUILD_TIMEOUT_MS, scenarios });

  test('it goes on with an answer of the service itself whose connection was cut', async () => {
    await expect(clients?.use(showCutAnswer)).resolves.toBeUndefined();
  });

  test('the Swift of its pages compiles with it', () => {
    expect(pages).toEqual(['firebase-callable.md', 'ios-swift.md', 'README.md']);
  });
});
