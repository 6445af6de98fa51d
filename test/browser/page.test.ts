import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type OpenPage, type PageStack, startPageStack } from '../support/processes/browser.ts';
import {
  boatFacts,
  boatStory,
  compactNow,
  openConversation,
  openDetail,
  say,
  tellOfTheBoat,
} from '../support/processes/page-scenarios.ts';
import { startSwallowingProxy } from '../support/stores/swallowing-proxy.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

describe.skipIf(missingBrowser().length > 0)('the page', () => {
  let stack: PageStack;
  const opened: OpenPage[] = [];
  beforeAll(async () => {
    stack = await startPageStack();
  });
  afterAll(() => stack.stop());
  afterEach(async () => {
    await control('timing', { timeToFirstTokenMs: 0, tokensPerSecond: 0 });
    await control('vices', {});
    await Promise.all(opened.splice(0).map(({ close }) => close()));
  });

  async function control(what: string, body: object): Promise<void> {
    await fetch(`${stack.stack.fakeGeminiUrl}/control/${what}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
  }

  /** A page that shows a conversation of some length. */
  async function openStory() {
    const fresh = await open();
    await openConversation(fresh.page, await tellOfTheBoat(stack));
    return fresh;
  }

  async function open(options: Parameters<PageStack['open']>[0] = {}) {
    const fresh = await stack.open(options);
    opened.push(fresh);
    return fresh;
  }

  /** Makes the model slow and says something long to repeat, so that the answer is under way for a while. */
  async function askSlowly({ page }: OpenPage): Promise<string> {
    await say(page, 'The registration is NL-48213 and the berth is number seventeen in the west.');
    // Longer than another page needs to open on a busy machine; the tests end it by letting it run.
    await control('timing', { tokensPerSecond: 2 });
    await page.getByLabel('Message', { exact: true }).fill('What is the registration and berth?');
    await page.keyboard.press('Enter');
    await page.locator('[data-phase=streaming] .message.model .prose').first().waitFor();
    return page.locator('[data-phase=streaming] .message.model').innerText();
  }

  test('the page leads from the first visit to the first answer without console output', async () => {
    const { page, consoleErrors, problems } = await open();

    await say(page, 'My boat is called Pixel.');
    await say(page, 'What is my boat called?');

    expect(await page.locator('.message.model').last().innerText()).toContain('Pixel');
    expect(await page.getByRole('meter').first().getAttribute('aria-valuetext')).toContain(
      'of 24,000 tokens',
    );
    expect([...consoleErrors, ...problems.list]).toEqual([]);
  });

  test('the page shows a compaction stage by stage, then what it saved', async () => {
    const { page, consoleErrors } = await openStory();
    await control('vices', { slowMs: 1_200 });

    await page.getByRole('button', { name: 'Compact now' }).click();
    const current = page.locator('.stages [aria-current=step]');
    await current.filter({ hasText: 'Summarising' }).waitFor();
    await page.locator('.record').waitFor();

    const record = await page.locator('.record').innerText();
    expect(record).toMatch(/Compacted.*asked for/s);
    expect(record).toMatch(/\d+% saved/);
    expect(record).toMatch(/Turns\s*\d+/);
    expect(await page.locator('.fold-mark').innerText()).toMatch(/Folded up to turn \d/);
    expect(consoleErrors).toEqual([]);
  });

  test('the page highlights the turns that a snapshot statement comes from', async () => {
    const { page } = await openStory();
    await compactNow(page);
    await openDetail(page);

    await page.locator('.statement', { hasText: '214.50 euros' }).first().hover();
    const lit = page.locator('.folded-turns [data-lit=true]');
    await lit.first().waitFor();

    expect(await lit.first().innerText()).toContain(boatFacts[3]);
    expect(await page.locator('.report').innerText()).toMatch(
      /\d+ new or changed statements, \d+ values in them looked up/,
    );
  });

  test('the page shows an earlier generation and restores it', async () => {
    const { page } = await openStory();
    await compactNow(page);

    await page.getByLabel('View as of').selectOption('0');
    await page.locator('.prompt-item').filter({ hasText: boatFacts[0] }).first().waitFor();
    await page.getByRole('button', { name: 'Restore it' }).click();
    await page.locator('.record').filter({ hasText: 'Restored' }).waitFor();
    await page.locator('.fold-mark').waitFor({ state: 'detached' });

    expect(await page.getByLabel('View as of').locator('option').first().innerText()).toContain(
      'Generation 2',
    );
  });

  test('the page resumes an answer whose connection is cut, without losing or doubling a word', async () => {
    const line = await startSwallowingProxy(new URL(stack.stack.chatUrl).host);
    onTestFinished(line.close);
    // The page's own policy names the address of chat, not that of the line.
    const fresh = await open({ bypassCSP: true });
    const { page } = fresh;
    await page.route('**/config.json', async (route) => {
      const response = await route.fetch();
      const config = { ...(await response.json()), chatUrl: `http://${line.address}` };
      await route.fulfill({ response, json: config });
    });
    await page.reload();
    const seen = await askSlowly(fresh);

    line.cut();
    await page.locator('article[data-phase=reconnecting]').waitFor();
    await control('timing', { tokensPerSecond: 0 });
    await page.getByRole('button', { name: 'Send' }).waitFor();

    const answer = await page.locator('.message.model').last().innerText();
    expect(answer.startsWith(seen.trim())).toBe(true);
    expect(answer.match(/NL-48213/g)).toHaveLength(1);
    expect(await page.locator('.message.user').count()).toBe(2);
  });

  test('the page fetches the end of an answer given while offline, and says so', async () => {
    const fresh = await open();
    const { page } = fresh;
    await askSlowly(fresh);

    await page.route('**/messages?*', (route) => route.abort());
    await control('timing', { tokensPerSecond: 0 });
    await page.getByText('No connection.').waitFor();
    const meanwhile = await page.locator('.message.model').last().innerText();
    await page.unroute('**/messages?*');
    await page.locator('.turn[data-seq="2"]').waitFor();
    await page.getByText('No connection.').waitFor({ state: 'detached' });

    expect(meanwhile).toContain('NL-48213');
  });

  test('the page resumes an answer after a reload', async () => {
    const fresh = await open();
    const { page } = fresh;
    await askSlowly(fresh);

    await page.reload();
    await page.locator('[data-phase=streaming]').waitFor();
    await control('timing', { tokensPerSecond: 0 });
    await page.getByRole('button', { name: 'Send' }).waitFor();

    expect(await page.locator('.message.user').count()).toBe(2);
    expect(await page.locator('.message.model').last().innerText()).toContain('NL-48213');
  });

  test('the page follows an answer that another device asked for', async () => {
    const other = await open();
    const fresh = await open();
    await askSlowly(fresh);

    await other.page.goto(fresh.page.url());
    await other.page.locator('[data-phase=streaming]').waitFor();
    await control('timing', { tokensPerSecond: 0 });
    await other.page.getByRole('button', { name: 'Send' }).waitFor();

    expect(await other.page.locator('.message.model').last().innerText()).toContain('NL-48213');
    expect(await other.page.locator('.message.user').count()).toBe(2);
  });

  test('the page stops an answer and regenerates it', async () => {
    const fresh = await open();
    const { page } = fresh;
    await askSlowly(fresh);

    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.').waitFor();
    await control('timing', { tokensPerSecond: 0 });
    await page.locator('.turn').last().hover();
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await page.locator('.turn[data-seq="3"] .message.model').waitFor();

    expect(await page.locator('.turn[data-seq="3"]').innerText()).toContain('NL-48213');
  });

  test('the page sends text composed by an input method once, when Enter confirms it', async () => {
    const { page } = await open();
    const session = await page.context().newCDPSession(page);
    await page.getByRole('textbox').focus();
    const compose = (text: string) =>
      session.send('Input.imeSetComposition', {
        text,
        selectionStart: text.length,
        selectionEnd: text.length,
      });

    await compose('わたしのいぬはぽち');
    await page.keyboard.press('Enter');
    const whileComposing = await page.locator('.message.user').count();
    await session.send('Input.insertText', { text: '私の犬はポチです。' });
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Send' }).waitFor();

    expect(whileComposing).toBe(0);
    expect(await page.locator('.message.user').allInnerTexts()).toEqual(['私の犬はポチです。']);
  });

  test('the page can be used with the keyboard alone', async () => {
    const { page } = await open();
    const focused = () => page.evaluate<string>('document.activeElement.innerText');
    const reach = async (name: string) => {
      const passed: string[] = [];
      // Each turn and each part of the prompt has stops of its own.
      for (let presses = 0; presses < 200; presses += 1) {
        const stop = (await focused()).trim();
        if (stop.startsWith(name)) return;
        passed.push(stop.slice(0, 12));
        await page.keyboard.press('Tab');
      }
      throw new Error(`200 times Tab do not reach ${name}: ${passed.join(' | ')}`);
    };
    await page.locator('textarea:focus').waitFor();
    for (const text of boatStory) {
      await page.keyboard.insertText(text);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Send' }).waitFor();
    }

    await reach('Compact now');
    await page.keyboard.press('Enter');
    await page.locator('.record').waitFor();
    await reach('Show what was kept');
    await page.keyboard.press('Enter');
    await page.locator('.statement').first().waitFor();
    await reach('My boat is called Pixel');
    const lit = await page.locator('.folded-turns [data-lit=true]').innerText();
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });

    expect(lit).toContain(boatFacts[0]);
  });

  test('the page fits a screen of 320 pixels, one pane at a time', async () => {
    const { page } = await open({ viewport: { width: 320, height: 640 }, hasTouch: true });
    const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
    await say(page, `My boat is called Pixel, see https://example.org/${'long'.repeat(30)}`);

    const widths = [await width()];
    for (const pane of ['Context', 'Events', 'Chats']) {
      await page.locator('.pane-switch').getByRole('button', { name: pane }).click();
      widths.push(await width());
    }

    expect(widths).toEqual([320, 320, 320, 320]);
    expect(await page.locator('.conversation').count()).toBeGreaterThan(0);
    expect(await page.locator('.transcript').isVisible()).toBe(false);
  });
});
