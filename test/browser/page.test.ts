import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildPage, startPage } from '#infra/local/page/start-page.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { startChatServer } from '#test/support/chat/chat-server.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';
import {
  boatFacts,
  boatStory,
  compactNow,
  type OpenPage,
  openConversation,
  openDetail,
  type PageStack,
  say,
  startPageStack,
  tellOfTheBoat,
} from '../support/processes/browser.ts';
import { startSwallowingProxy } from '../support/stores/swallowing-proxy.ts';
import { idTokenClaims } from '../support/token-keys.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

const shell = promisify(execFile);

test('the page weighs at most 60 KB on the first visit, compressed as Hosting does it', async () => {
  const files = await buildPage();
  const document = files.get('/index.html')?.toString() ?? '';
  const named = [...document.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
  const sizes = ['/index.html', ...named].map((path) => gzipSync(files.get(path) ?? '').length);

  expect(named.length).toBeGreaterThan(2);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60 * 1_024);
});

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

  async function open(options: Parameters<PageStack['open']>[0] = {}) {
    const fresh = await stack.open(options);
    opened.push(fresh);
    return fresh;
  }

  /** A page that shows a conversation of some length. */
  async function openStory(options: Parameters<PageStack['open']>[0] = {}) {
    const fresh = await open(options);
    await openConversation(fresh.page, await tellOfTheBoat(stack));
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

  describe('chats and transcript', () => {
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

    test('the page shows which turns an edit replaced, and restores a deleted conversation', async () => {
      const { page } = await open();
      for (const text of ['My boat is moored in Vlieland.', 'My dog is old.', 'And my cat?'])
        await say(page, text);
      const second = page.locator('.turn[data-seq="2"]');
      await second.hover();
      await second.getByRole('button', { name: 'Edit' }).click();
      await say(page, 'My dog is young.');
      await page.locator('.turn[data-seq="4"]').waitFor();

      for (const seq of [2, 3])
        expect(await page.locator(`.turn[data-seq="${seq}"]`).innerText()).toContain(
          'Turn 4 took its place',
        );
      const entry = page.locator('.conversation', { hasText: 'My boat is moored in Vlieland.' });
      await entry.getByLabel('Actions').click();
      await entry.getByRole('button', { name: 'Delete conversation' }).click();
      await entry.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.locator('.turn[data-seq="1"]').waitFor();
      expect(await page.locator('.transcript-head').innerText()).toContain('My boat is moored');
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

    test('an app function that the model calls waits through a reload, and is answered on the page', async () => {
      const tool = { name: 'device_info', parameters: { type: 'object', properties: {} } };
      const { page } = await open();
      await openConversation(
        page,
        await tellOfTheBoat(stack, ['Good morning.'], { tools: [tool] }),
      );
      await say(page, 'call device_info {}');
      await page.getByText('The model asks this app, and waits.').waitFor();

      await page.reload();
      await page.getByLabel('What does device_info give?').fill('{"timeZone":"Asia/Seoul"}');
      await page.getByRole('button', { name: 'Answer the model' }).click();
      const turn = page.locator('.turn[data-seq="2"]');
      await turn.filter({ hasText: 'The tools gave device_info' }).waitFor();

      expect(await turn.innerText()).toContain('Asia/Seoul');
      expect(await page.locator('.message.user').count()).toBe(2);
    });

    test('the page says why a message has no answer, and offers to repeat it only where that could succeed', async () => {
      const { page } = await open();
      const fault = { kind: 'http', code: 400, status: 'INVALID_ARGUMENT', message: 'no' };
      const match = { role: 'chat' };
      await control('faults', { faults: [{ ...fault, match, times: 9 }] });
      onTestFinished(async () => {
        await fetch(`${stack.stack.fakeGeminiUrl}/control/faults`, { method: 'DELETE' });
      });
      await page.getByLabel('Message', { exact: true }).fill('Say yes.');
      await page.keyboard.press('Enter');
      const change = page.getByRole('button', { name: 'Change it' });
      await change.waitFor();
      await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });
      await change.click();

      expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('Say yes.');
      expect(await page.locator('.turn[data-seq="1"]').innerText()).toContain('No answer.');
    });
  });

  describe('context and events', () => {
    test('the page shows a compaction stage by stage, what it saved, and the turns that a statement comes from', async () => {
      const { page, consoleErrors } = await openStory();
      await control('vices', { slowMs: 1_200 });

      await page.getByRole('button', { name: 'Compact now' }).click();
      const current = page.locator('.stages [aria-current=step]');
      await current.filter({ hasText: 'Summarising' }).waitFor();
      await page.locator('.record').waitFor();
      const record = await page.locator('.record').innerText();
      await openDetail(page);
      await page.locator('.statement', { hasText: '214.50 euros' }).first().hover();
      const lit = page.locator('.folded-turns [data-lit=true]').first();
      await lit.waitFor();

      expect(record).toMatch(/Compacted.*asked for/s);
      expect(record).toMatch(/\d+% saved/);
      expect(await page.locator('.fold-mark').innerText()).toMatch(/Folded up to turn \d/);
      expect(await lit.innerText()).toContain(boatFacts[3]);
      expect(consoleErrors).toEqual([]);
    });

    test('the page sets the threshold, pins a message, and restores an earlier generation', async () => {
      const { page } = await openStory();
      await page.getByLabel('Threshold (tokens)').fill('2000');
      await page.keyboard.press('Enter');
      // The mark follows the figure by a request.
      await page.locator('.gauge-marks', { hasText: 'Shortens 4,000' }).waitFor();
      const turn = page.locator(`.turn[data-seq="${boatStory.length}"]`);
      await turn.hover();
      await turn.getByRole('button', { name: 'Pin' }).dblclick();
      await turn.locator('.pinned-mark').waitFor();
      await compactNow(page);

      await page.getByLabel('View as of').selectOption('0');
      await page.locator('.prompt-item').filter({ hasText: boatFacts[0] }).first().waitFor();
      await page.getByRole('button', { name: 'Restore it' }).click();
      await page.locator('.record').filter({ hasText: 'Restored' }).waitFor();
      await page.locator('.fold-mark').waitFor({ state: 'detached' });

      expect(await page.locator('.gauge-figure').innerText()).toContain('/ 2,000 tokens');
      expect(await page.locator('.pin').count()).toBe(1);
    });
  });

  test('the wire tab shows stream events with rising ids, and copies a request as a working curl command without the token', async () => {
    const { page, problems } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('textbox', { name: 'Message' }).fill('Pixel is a dog of four years.');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Wire' }).click();
    await page.locator('.wire-frames tr', { hasText: 'finish' }).waitFor();
    const cells = page.locator('.wire-frames [data-frame] td:first-child');
    const ids = (await cells.allInnerTexts()).map(Number);
    const row = page.locator('.wire-requests li', { hasText: /POST.*messages/ }).first();
    await row.getByRole('button').click();
    await row.getByText('Copied').waitFor();

    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    const token = unsignedToken({ uid: 'ada', projectId: 'demo-recap', now: new Date() });
    const { stdout } = await shell('bash', ['-euc', command], {
      env: { ...process.env, RECAP_TOKEN: token },
    });

    expect(ids.length).toBeGreaterThan(4);
    expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
    expect(command).not.toMatch(/eyJ/);
    expect(stdout).toMatch(/"replayed":true[^]*"finish"[^]*\[DONE\]/);
    expect(problems.list).toEqual([]);
  });

  describe('an answer under way', () => {
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

      const resumed = page.waitForRequest(/\/stream\?startingAfter=/);
      line.cut();
      await resumed;
      await control('timing', { tokensPerSecond: 0 });
      await page.getByRole('button', { name: 'Send' }).waitFor();

      const answer = await page.locator('.message.model').last().innerText();
      expect(answer.startsWith(seen.trim())).toBe(true);
      expect(answer.match(/NL-48213/g)).toHaveLength(1);
      expect(await page.locator('.message.user').count()).toBe(2);
    });

    test('the page resumes an answer after a reload, and on another device', async () => {
      const other = await open();
      const fresh = await open();
      await askSlowly(fresh);

      await fresh.page.reload();
      await other.page.goto(fresh.page.url());
      for (const { page } of [fresh, other]) await page.locator('[data-phase=streaming]').waitFor();
      await control('timing', { tokensPerSecond: 0 });

      for (const { page } of [fresh, other]) {
        await page.getByRole('button', { name: 'Send' }).waitFor();
        expect(await page.locator('.message.user').count()).toBe(2);
        expect(await page.locator('.message.model').last().innerText()).toContain('NL-48213');
      }
    });
  });

  describe('input', () => {
    test('the page sends text composed by an input method once, when Enter confirms it', async () => {
      const { page } = await open();
      const session = await page.context().newCDPSession(page);
      await page.getByRole('textbox').focus();
      const text = 'わたしのいぬはぽち';
      const caret = { selectionStart: text.length, selectionEnd: text.length };

      await session.send('Input.imeSetComposition', { text, ...caret });
      await page.keyboard.press('Enter');
      const whileComposing = await page.locator('.message.user').count();
      await session.send('Input.insertText', { text: '私の犬はポチです。' });
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Send' }).waitFor();

      expect(whileComposing).toBe(0);
      expect(await page.locator('.message.user').allInnerTexts()).toEqual(['私の犬はポチです。']);
    });

    test('the page can be used with the keyboard alone', async () => {
      const { page } = await openStory();
      const focused = () => page.evaluate<string>('document.activeElement.innerText');
      const reach = async (name: string) => {
        // Each turn and each part of the prompt has stops of its own.
        for (let presses = 0; presses < 200; presses += 1) {
          if ((await focused()).trim().startsWith(name)) return;
          await page.keyboard.press('Tab');
        }
        throw new Error(`200 times Tab do not reach ${name}`);
      };
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

    test('the page fits a screen of 320 pixels, one pane at a time, with the source turn in sight', async () => {
      const { page } = await openStory({ viewport: { width: 320, height: 640 }, hasTouch: true });
      const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
      await say(page, `Pixel, see https://example.org/${'long'.repeat(30)}`);

      const widths = [await width()];
      for (const pane of ['Chats', 'Context', 'Events']) {
        await page.locator('.pane-switch').getByRole('button', { name: pane }).click();
        widths.push(await width());
        if (pane === 'Context') await page.getByRole('button', { name: 'Compact now' }).click();
      }
      await page.locator('.record').waitFor();
      await openDetail(page);
      await page.locator('.statement').last().tap();
      await page.locator('.folded-turns [data-lit=true]').first().waitFor();
      const top = await page.evaluate<number>(
        `document.querySelector('.folded-turns [data-lit=true]').getBoundingClientRect().top`,
      );

      expect(widths).toEqual([320, 320, 320, 320]);
      expect(top).toBeGreaterThanOrEqual(0);
      expect(top).toBeLessThan(320);
    });
  });

  const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

  /** What axe finds that is serious or critical, with the first element of each. */
  async function seriousFindings(page: Page): Promise<string[]> {
    await page.evaluate(await readFile(axeFile, 'utf8'));
    const { violations } = await page.evaluate<AxeResults>('axe.run()');
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  }

  test('axe finds no serious problem in the page, light or dark', async () => {
    const { page } = await openStory({ reducedMotion: 'reduce' });
    await compactNow(page);
    const findings: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator('.turn').first().hover();
      findings.push(...(await seriousFindings(page)));
      await openDetail(page);
      await page.locator('.statement').first().hover();
      findings.push(...(await seriousFindings(page)));
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
    }

    expect(findings).toEqual([]);
  });

  test('the page scrolls 1,000 messages with few of them in the document', async () => {
    const chat = await startChatServer({ environment: { CORS_ORIGINS: '*' } });
    const token = await chat.keys.sign(idTokenClaims(chat.project, 'alice'));
    const local = await startPage({ port: 0, config: { chatUrl: chat.url, token } });
    onTestFinished(async () => {
      await Promise.all([local.close(), chat.stop()]);
    });
    const built = { turns: 500, conversation: { ownerUid: 'alice' } };
    const { conversationId } = await buildConversation(chat.dependencies.store, built);
    const { page } = await open();
    await page.goto(`${local.url}/#/c/${conversationId}`);
    await page.locator('.turn[data-seq="500"]').waitFor();

    // Each time that the reader comes to the top, older turns come before it.
    const first = page.locator('.turn[data-seq="1"]');
    while ((await first.count()) === 0)
      await page.evaluate(`new Promise((resolve) => {
        document.querySelector('.messages').scrollTo({ top: 0 });
        requestAnimationFrame(resolve);
      })`);

    expect(await page.locator('.turn').count()).toBeLessThan(60);
  });
});
