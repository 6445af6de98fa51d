import { afterAll, beforeAll, expect, test } from 'vitest';
import { startClients, type ClientName, type Clients } from '#clients/conformance/clients.ts';
import { allScenarios } from '#clients/conformance/scenario.ts';

/** A test for each scenario, within the `describe` of the client. */
export function playAll(
  name: ClientName,
  start: () => Promise<Clients> = () => startClients(name),
  startMs?: number,
): void {
  let clients: Clients;
  beforeAll(async () => {
    clients = await start();
  }, startMs);
  afterAll(() => clients.stop());

  for (const scenario of allScenarios())
    test.concurrent(`${scenario.chapter}: ${scenario.name}`, async () => {
      await expect(clients.play(scenario)).resolves.toBeUndefined();
    });
}
