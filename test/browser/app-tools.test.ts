import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OpenPage, type PageStack, startPageStack } from '../support/processes/browser.ts';
import { openConversation, say, tellOfTheBoat } from '../support/processes/page-scenarios.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

const tool = { name: 'device_info', parameters: { type: 'object', properties: {} } };

describe.skipIf(missingBrowser().length > 0)('a function of the app', () => {
  let stack: PageStack;
  let opened: OpenPage;
  beforeAll(async () => {
    stack = await startPageStack();
  });
  afterAll(() => stack.stop());
  afterEach(() => opened.close());

  /** A conversation whose model may ask the app, and has done so. */
  async function openAsked() {
    const id = await tellOfTheBoat(stack, ['Good morning.'], { tools: [tool] });
    opened = await stack.open();
    const { page } = opened;
    await openConversation(page, id);
    await say(page, 'call device_info {}');
    await page.getByText('The model asks this app, and waits.').waitFor();
    return opened;
  }

  test('an app function that the model calls is answered on the page, and the turn goes on', async () => {
    const { page, problems, consoleErrors } = await openAsked();

    await page.getByLabel('What does device_info give?').fill('{"timeZone":"Asia/Seoul"}');
    await page.getByRole('button', { name: 'Answer the model' }).click();
    const turn = page.locator('.turn[data-seq="2"]');
    await turn.filter({ hasText: 'The tools gave device_info' }).waitFor();

    expect(await turn.innerText()).toContain('Asia/Seoul');
    expect(await page.locator('.message.user').count()).toBe(2);
    expect(await page.getByText('The model asks this app').count()).toBe(0);
    expect([...consoleErrors, ...problems.list]).toEqual([]);
  });

  test('a waiting app function survives a reload of the page and can be declined', async () => {
    const { page } = await openAsked();

    await page.reload();
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.locator('.turn[data-seq="2"]').filter({ hasText: 'The tools gave' }).waitFor();

    expect(await page.locator('.turn[data-seq="2"]').innerText()).toContain('The user declined.');
  });
});
