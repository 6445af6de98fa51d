import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OpenPage, type PageStack, startPageStack } from '../support/processes/browser.ts';
import { say } from '../support/processes/page-scenarios.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

describe.skipIf(missingBrowser().length > 0)('a function of the page', () => {
  let stack: PageStack;
  let opened: OpenPage;
  beforeAll(async () => {
    stack = await startPageStack();
  });
  afterAll(() => stack.stop());
  afterEach(() => opened.close());

  /** A conversation whose model may ask the page, and has done so. */
  async function openAsked() {
    opened = await stack.open({ timezoneId: 'Asia/Seoul' });
    const { page } = opened;
    await say(page, 'Good morning.');
    await page.getByLabel('The model may ask this page for device_info').check();
    await page.locator('.prompt-item').filter({ hasText: 'device_info' }).first().waitFor();
    await say(page, 'call device_info {}');
    await page.getByText('The model asks this app, and waits.').waitFor();
    return opened;
  }

  test('a page function that the model calls is answered by the user, and the turn goes on', async () => {
    const { page, problems, consoleErrors } = await openAsked();

    await page.getByRole('button', { name: 'Answer the model' }).click();
    const turn = page.locator('.turn[data-seq="2"]');
    await turn.filter({ hasText: 'The tools gave device_info' }).waitFor();

    expect(await turn.innerText()).toContain('Asia/Seoul');
    expect(await page.locator('.message.user').count()).toBe(2);
    expect(await page.getByText('The model asks this app').count()).toBe(0);
    expect([...consoleErrors, ...problems.list]).toEqual([]);
  });

  test('a waiting page function survives a reload of the page and can be declined', async () => {
    const { page } = await openAsked();

    await page.reload();
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.locator('.turn[data-seq="2"]').filter({ hasText: 'The tools gave' }).waitFor();

    expect(await page.locator('.turn[data-seq="2"]').innerText()).toContain('The user declined.');
  });
});
