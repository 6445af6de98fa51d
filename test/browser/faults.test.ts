import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenPage, type PageStack, startPageStack } from '../support/processes/browser.ts';
import { runFault } from '../support/processes/fault-card.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

describe.skipIf(missingBrowser().length > 0)('the fault panel', () => {
  let stack: PageStack;
  let opened: OpenPage;
  beforeAll(async () => {
    stack = await startPageStack({
      environment: { COMPACTION_LEASE_MS: '2000', TURN_LEASE_MS: '2000' },
      push: { minBackoffSeconds: 1, maxBackoffSeconds: 2 },
    });
    opened = await stack.open();
    await opened.page.getByRole('tab', { name: 'Faults' }).click();
  });
  afterAll(() => stack.stop());

  test('a stream cut by the fault panel resumes where it was cut and ends as the stored answer', async () => {
    const { outcome, sentence } = await runFault(opened.page, 'drop');

    expect([outcome, sentence]).toEqual(['held', expect.stringMatching(/cut after event \d+/)]);
    const [, cutAfter, resumedAt] = /event (\d+), resumed at (\d+)/.exec(sentence) ?? [];
    expect(Number(resumedAt)).toBe(Number(cutAfter) + 1);
  });

  test('a message that the fault panel sends five times is one turn and one model call', async () => {
    const { outcome, sentence } = await runFault(opened.page, 'resend');

    expect([outcome, sentence]).toEqual([
      'held',
      expect.stringContaining('5 sends, 1 turn, 1 answer, 1 model call'),
    ]);
  });

  test('a model that the fault panel makes refuse twice is called a third time', async () => {
    const { outcome, sentence } = await runFault(opened.page, 'quota');

    expect([outcome, sentence]).toEqual(['held', expect.stringContaining('answered at call 3')]);
  });

  test('a number that the fault panel has the summariser alter stands in the snapshot with a mark', async () => {
    const { outcome, sentence } = await runFault(opened.page, 'inventive');

    expect([outcome, sentence]).toEqual([
      'held',
      expect.stringMatching(/[1-9]\d* values? marked .* not marked: none/),
    ]);
  });

  test('another worker follows the one that the fault panel kills, and the in-memory store stays', async () => {
    const { outcome, sentence } = await runFault(opened.page, 'killWorker');

    expect([outcome, sentence]).toEqual([
      'held',
      expect.stringMatching(/1 swap, .* after the kill; 0 messages lost/),
    ]);
    expect(
      stack.stack
        .processIds()
        .map(({ part }) => part)
        .toSorted(),
    ).toEqual(['chat', 'compaction', 'stand-in', 'store']);
  });

  test('the fault panel does not offer a kill that would lose the store, and says why', async () => {
    const { page, close } = await stack.open();
    // As the supervisor of a stack says it whose functions are one process with the store.
    await page.route('**/state', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), killable: [] } });
    });

    await page.getByRole('tab', { name: 'Faults' }).click();
    const card = page.locator('[data-fault=killWorker]');
    await card.getByText('Not possible here').waitFor();

    expect(await card.getByRole('button').isDisabled()).toBe(true);
    await close();
  });

  test('the fault panel reports a fault that it could not start, instead of a passed check', async () => {
    const { page } = opened;
    await page.route('**/model/faults', (route) => route.abort());

    const { outcome, sentence } = await runFault(page, 'unavailable');
    await page.unroute('**/model/faults');

    expect([outcome, sentence]).toEqual(['failed', expect.stringContaining('could not be tried')]);
  });

  test('the fault panel shows a turn that a broken service would duplicate as broken', async () => {
    const { page } = opened;
    // The transcript as a service would show it that had made a second turn.
    await page.route('**/messages?*', async (route) => {
      const response = await route.fetch();
      const { messages } = await response.json();
      const twice = [...messages, ...messages.map((message: object) => ({ ...message, seq: 2 }))];
      await route.fulfill({ response, json: { messages: twice } });
    });

    const { outcome, sentence } = await runFault(page, 'resend');
    await page.unroute('**/messages?*');

    expect([outcome, sentence]).toEqual(['broken', expect.stringContaining('BROKEN')]);
    expect(sentence).toContain('2 turns');
  });

  test('the fault panel breaks neither the page nor its content security policy', () => {
    expect(opened.problems.list).toEqual([]);
  });
});
