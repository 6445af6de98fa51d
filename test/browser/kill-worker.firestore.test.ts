import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PageStack, startPageStack } from '../support/processes/browser.ts';
import {
  firestoreEmulatorHost,
  pubsubEmulatorHost,
} from '../support/processes/emulator-environment.ts';
import { runFault } from '../support/processes/fault-card.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

describe.skipIf(missingBrowser().length > 0)('the fault panel on the emulators', () => {
  let stack: PageStack;
  beforeAll(async () => {
    firestoreEmulatorHost();
    pubsubEmulatorHost();
    stack = await startPageStack({
      embedded: false,
      environment: {
        // Other tests have stacks of their own on the same emulator.
        COMPACTION_TOPIC: `page-${randomUUID()}`,
        EVENTS_TOPIC: `page-events-${randomUUID()}`,
        COMPACTION_LEASE_MS: '2000',
        TURN_LEASE_MS: '2000',
      },
      push: { minBackoffSeconds: 1, maxBackoffSeconds: 2 },
    });
  });
  afterAll(() => stack.stop());

  test('a worker killed during a compaction is followed by one that finishes it, as the page shows', async () => {
    const { page } = await stack.open();
    await page.getByRole('tab', { name: 'Faults' }).click();

    const worker = await runFault(page, 'killWorker', 120_000);
    const chat = await runFault(page, 'killChat', 60_000);

    expect([worker.outcome, worker.sentence]).toEqual([
      'held',
      expect.stringMatching(/1 swap, .* after the kill; 0 messages lost/),
    ]);
    expect([chat.outcome, chat.sentence]).toEqual([
      'held',
      expect.stringMatching(/1 turn, answered .* after the kill, at attempt 2/),
    ]);
  });
});
