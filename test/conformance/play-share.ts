import { afterAll, beforeAll, expect, test } from 'vitest';
import { startClients, type ClientName, type Clients } from './launchers/clients.ts';
import { allScenarios } from './judge/scenario.ts';

/**
 * Of how many scenarios the tests play one, beginning with which; `npm run conformance -- --client NAME` plays all of them.
 * Clients that share code have different ones: the package in Node has all, what is below it in a browser or in React Native a part.
 */
const SHARES: Record<ClientName, { one: number; from: number }> = {
  typescript: { one: 1, from: 0 },
  chromium: { one: 3, from: 1 },
  react: { one: 3, from: 2 },
  'react-native': { one: 3, from: 0 },
  dart: { one: 4, from: 2 },
  swift: { one: 4, from: 1 },
  kotlin: { one: 8, from: 0 },
};

/** A test for each scenario that the tests play to the client, within the `describe` of the client. */
export function playShare(
  name: ClientName,
  start: () => Promise<Clients> = () => startClients(name),
  startMs?: number,
): void {
  let clients: Clients;
  beforeAll(async () => {
    clients = await start();
  }, startMs);
  afterAll(() => clients.stop());

  const { one, from } = SHARES[name];
  for (const scenario of allScenarios().filter((_, index) => index % one === from))
    test.concurrent(`${scenario.chapter}: ${scenario.name}`, async () => {
      await expect(clients.play(scenario)).resolves.toBeUndefined();
    });
}
