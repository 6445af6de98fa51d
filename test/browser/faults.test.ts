import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenPage, type PageStack, startPageStack } from '../support/processes/browser.ts';
import { runFault } from '../support/processes/fault-card.ts';
import { missingBrowser } from '../support/tools/tools.ts';

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

  test('a stream that is dropped goes on where it was cut, and ends as the stored answer', async () => {
    const { outcome, sentence } = await runFault(opened.page, 'drop');

    expect([outcome, sentence]).toEqual(['held', expect.stringMatching(/cut after event \d+/)]);
    const [, cutAfter, resumedAt] = /event (\d+), resumed at (\d+)/.exec(sentence) ?? [];
    expect(Number(resumedAt)).toBe(Number(cutAfter) + 1);
  });

  test('a message that is sent five times is one turn and one call of the model', async () => {
    const { outcome, sentence } = await runFault(opened.page, 'resend');

    expect([outcome, sentence]).toEqual([
      'held',
      expect.stringContaining('5 sends, 1 turn, 1 answer, 1 model call'),
    ]);
  });

  test('a model that refuses twice is asked a third time', async () => {
    const { outcome, sentence } = await runFault(opened.page, 'quota');

    expect([outcome, sentence]).toEqual(['held', expect.stringContaining('answered at call 3')]);
  });

  test('a summary with altered figures brings none of them into the snapshot', async () => {
    const { outcome, sentence } = await runFault(opened.page, 'inventive');

    expect([outcome, sentence]).toEqual(['held', expect.stringContaining('nobody said: none')]);
  });

  test('a worker that is killed is followed by another one, and the store in memory stays', async () => {
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

  test('what would take the store along is not offered, and says why', async () => {
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

  test('a fault that cannot be ordered is told as such, and never as held', async () => {
    const { page } = opened;
    await page.route('**/model/faults', (route) => route.abort());

    const { outcome, sentence } = await runFault(page, 'unavailable');
    await page.unroute('**/model/faults');

    expect([outcome, sentence]).toEqual(['failed', expect.stringContaining('could not be tried')]);
  });

  test('a turn that a broken service would make twice is shown as broken', async () => {
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

  test('nothing of it breaks the page or its policy', () => {
    expect(opened.problems.list).toEqual([]);
  });
});
