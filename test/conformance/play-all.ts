import { afterAll, beforeAll, expect, test } from 'vitest';
import { startClients, type ClientName, type Clients } from './launchers/clients.ts';
import { allScenarios, type Scenario } from './judge/scenario.ts';

/** A test for each scenario, or each of those that are given, within the `describe` of the client. */
export function playAll(
  name: ClientName,
  start: () => Promise<Clients> = () => startClients(name),
  {
    startMs,
    scenarios = allScenarios(),
  }: { startMs?: number; scenarios?: readonly Scenario[] } = {},
): void {
  let clients: Clients;
  beforeAll(async () => {
    clients = await start();
  }, startMs);
  afterAll(() => clients.stop());

  for (const scenario of scenarios)
    test.concurrent(`${scenario.chapter}: ${scenario.name}`, async () => {
      await expect(clients.play(scenario)).resolves.toBeUndefined();
    });
}
