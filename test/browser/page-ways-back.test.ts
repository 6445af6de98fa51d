import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OpenPage, type PageStack, startPageStack } from '../support/processes/browser.ts';
import {
  openConversation,
  openDetail,
  say,
  tellOfTheBoat,
} from '../support/processes/page-scenarios.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

/* What a user changes, takes back, or is refused. */
describe.skipIf(missingBrowser().length > 0)('the page', () => {
  let stack: PageStack;
  const pages: OpenPage[] = [];
  beforeAll(async () => {
    stack = await startPageStack();
  });
  afterAll(() => stack.stop());
  afterEach(async () => {
    await Promise.all(pages.splice(0).map(({ close }) => close()));
  });
  const open = async (options?: Parameters<PageStack['open']>[0]) => {
    const opened = await stack.open(options);
    pages.push(opened);
    return opened.page;
  };
  const fail = (fault: object) =>
    fetch(`${stack.stack.fakeGeminiUrl}/control/faults`, {
      method: 'POST',
      body: JSON.stringify({ faults: [{ match: { role: 'chat' }, ...fault }] }),
    });

  test('the page shows which turns replaced the ones that an edit removed', async () => {
    const page = await open();
    for (const text of ['My boat is blue.', 'My dog is old.', 'And my cat?']) await say(page, text);
    const second = page.locator('.turn[data-seq="2"]');
    await second.hover();
    await second.getByRole('button', { name: 'Edit' }).click();
    const marked = await page.locator('.turn[data-to-be-replaced=true]').count();

    await say(page, 'My dog is young.');
    await page.locator('.turn[data-seq="4"]').waitFor();

    expect(marked).toBe(2);
    for (const seq of [2, 3])
      expect(await page.locator(`.turn[data-seq="${seq}"]`).innerText()).toContain(
        'Turn 4 took its place',
      );
    expect(await page.locator('.record').innerText()).not.toContain('saved');
  });

  test('the page offers to repeat a request only where it could succeed', async () => {
    const page = await open();
    await fail({ kind: 'http', code: 400, status: 'INVALID_ARGUMENT', message: 'no', times: 9 });
    await page.getByLabel('Message', { exact: true }).fill('Say yes.');
    await page.keyboard.press('Enter');
    const change = page.getByRole('button', { name: 'Change it' });
    await change.waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });
    await fetch(`${stack.stack.fakeGeminiUrl}/control/faults`, { method: 'DELETE' });

    await change.click();

    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('Say yes.');
    expect(await page.locator('.turn[data-seq="1"]').innerText()).toContain('No answer.');
  });

  test('the page says that a blocked answer is missing, also after a reload', async () => {
    const page = await open();
    await fail({ kind: 'safety', times: 1 });
    await say(page, 'What may not be said');
    await page.reload();

    const turn = page.locator('.turn[data-seq="1"]');
    await turn.waitFor();

    expect(await turn.innerText()).toContain('The model did not answer this.');
  });

  test('the page pins a message once, however often it is clicked, and unpins it', async () => {
    const page = await open();
    await say(page, 'My boat is called Pixel.');
    const turn = page.locator('.turn[data-seq="1"]');
    await turn.hover();

    await turn.getByRole('button', { name: 'Pin' }).dblclick();
    await turn.locator('.pinned-mark').waitFor();
    const pins = await page.locator('.pin').count();
    await page.getByRole('button', { name: 'Remove pin' }).click();
    await turn.locator('.pinned-mark').waitFor({ state: 'detached' });
    await page.locator('.pin').waitFor({ state: 'detached' });

    expect(pins).toBe(1);
  });

  test('the page names a conversation after its first words, and restores a deleted one', async () => {
    const page = await open();
    await say(page, 'My boat is moored in Vlieland.');
    const entry = page.locator('.conversation', { hasText: 'My boat is moored in Vlieland.' });
    await entry.hover();

    await entry.getByRole('button', { name: 'Delete conversation' }).click();
    await entry.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await entry.waitFor();
    await page.locator('.turn[data-seq="1"]').waitFor();

    expect(await page.locator('.transcript-head').innerText()).toContain('My boat is moored');
  });

  test('the page sets the threshold of a conversation', async () => {
    const page = await open();
    await say(page, 'My boat is called Pixel.');

    await page.getByLabel('Threshold (tokens)').fill('2000');
    await page.keyboard.press('Enter');
    // The mark follows the figure by a request.
    await page.locator('.gauge-marks', { hasText: 'Shortens 4,000' }).waitFor();

    expect(await page.locator('.gauge-figure').innerText()).toContain('/ 2,000 tokens');
  });

  test('the page shows the source turn beside a snapshot statement on a phone', async () => {
    const story = await tellOfTheBoat(stack);
    const page = await open({ viewport: { width: 320, height: 640 }, hasTouch: true });
    await openConversation(page, story);
    await page.getByRole('button', { name: 'Context', exact: true }).click();
    await page.getByRole('button', { name: 'Compact now' }).click();
    await page.getByRole('button', { name: 'Events', exact: true }).click();
    await page.locator('.record').waitFor();
    await openDetail(page);

    await page.locator('.statement').last().tap();
    await page.locator('.folded-turns [data-lit=true]').first().waitFor();

    const isInSight = await page.evaluate<boolean>(`(() => {
      const { top } = document.querySelector('.folded-turns [data-lit=true]').getBoundingClientRect();
      return top >= 0 && top < innerHeight / 2;
    })()`);
    expect(isInSight).toBe(true);
  });
});
