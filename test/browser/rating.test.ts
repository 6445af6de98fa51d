import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OpenPage, type PageStack, startPageStack } from '../support/processes/browser.ts';
import {
  compactNow,
  openConversation,
  tellOfTheBoat,
} from '../support/processes/page-scenarios.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

/** The control of the newest compaction. */
const ratingOf = (page: Page) =>
  page.locator('.record').first().getByRole('group', { name: 'Rate this compaction' });
const scoreOf = (page: Page, score: number) =>
  ratingOf(page).getByRole('radio', { name: `${score} of 5` });

/** The score that stands on the page once the service has it. */
async function storedScore(page: Page): Promise<string | null> {
  await ratingOf(page).getByRole('status').filter({ hasText: 'Saved' }).waitFor();
  await page.reload();
  await ratingOf(page).waitFor();
  return ratingOf(page).locator('input:checked').getAttribute('value');
}

describe.skipIf(missingBrowser().length > 0)('the rating of a compaction', () => {
  let stack: PageStack;
  const opened: OpenPage[] = [];
  beforeAll(async () => {
    stack = await startPageStack();
  });
  afterAll(() => stack.stop());
  afterEach(() => Promise.all(opened.splice(0).map(({ close }) => close())));

  /** A page with a conversation that was compacted once. */
  async function openCompacted() {
    const fresh = await stack.open();
    opened.push(fresh);
    await openConversation(fresh.page, await tellOfTheBoat(stack));
    await compactNow(fresh.page);
    return fresh;
  }

  test('a compaction has no rating before the user gives one', async () => {
    const { page } = await openCompacted();

    expect(await ratingOf(page).getByRole('radio').count()).toBe(5);
    expect(await ratingOf(page).locator('input:checked').count()).toBe(0);
  });

  test('a click stores a compaction’s rating, which is shown after a reload', async () => {
    const { page, consoleErrors } = await openCompacted();

    await scoreOf(page, 4).check({ force: true });

    expect(await storedScore(page)).toBe('4');
    expect(consoleErrors).toEqual([]);
  });

  test('a compaction’s rating can be given and changed with the keyboard alone', async () => {
    const { page } = await openCompacted();

    await page.locator('.record').first().getByRole('button', { name: 'Show what' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    for (let presses = 0; presses < 2; presses += 1) await page.keyboard.press('ArrowRight');

    expect(await storedScore(page)).toBe('3');
    await scoreOf(page, 3).focus();
    await page.keyboard.press('ArrowLeft');
    expect(await storedScore(page)).toBe('2');
  });

  test('a rating that the service refuses is reported, and not shown as given', async () => {
    const { page } = await openCompacted();
    await page.route('**/compactions/1:rate', (route) => route.abort());

    await scoreOf(page, 5).check({ force: true });
    await page.getByText('No connection').waitFor();

    expect(await ratingOf(page).locator('input:checked').count()).toBe(0);
    expect(await ratingOf(page).getByRole('status').innerText()).toBe('');
  });

  test('the page asks for a rating only where a compaction folded something', async () => {
    const { page } = await openCompacted();

    await page.getByLabel('View as of').selectOption('0');
    await page.getByRole('button', { name: 'Restore it' }).click();
    const restored = page.locator('.record').filter({ hasText: 'Restored' });
    await restored.waitFor();

    expect(await restored.getByRole('radio').count()).toBe(0);
  });
});
