import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { CDPSession, Page } from 'playwright-core';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPage } from '#infra/local/page/build-page.ts';
import { startPage } from '#infra/local/page/start-page.ts';
import { type PageStack, startPageStack } from '../support/processes/browser.ts';
import { startChatServer } from '../support/chat/chat-server.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';
import {
  compactNow,
  openConversation,
  tellOfTheBoat,
} from '../support/processes/page-scenarios.ts';
import { idTokenClaims } from '../support/token-keys.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

/** All that the page loads, compressed as Hosting does it. */
const PAGE_MAX_BYTES = 60 * 1_024;

/** Frames of scrolling, 400 pixels each. */
const FRAMES = 200;

/** Scripts, styles and layout of a frame: 10 ms on two busy cores (2026-11-22). */
const FRAME_MAX_MS = 33;

/** Seconds that the page has spent on scripts, styles and layout. */
async function workSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  const counted = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'];
  return metrics
    .filter(({ name }) => counted.includes(name))
    .reduce((sum, { value }) => sum + value, 0);
}

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe finds that is serious or critical, with the first element of each. */
async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(axeFile, 'utf8'));
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

test('the page weighs at most 60 KB on the first visit', async () => {
  const files = await buildPage();
  const document = files.get('/index.html')?.toString() ?? '';
  const named = [...document.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
  const sizes = ['/index.html', ...named].map((path) => gzipSync(files.get(path) ?? '').length);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);

  console.log(`first visit: ${bytes} bytes in ${sizes.length} files`);
  expect(named.length).toBeGreaterThan(2);
  expect(bytes).toBeLessThan(PAGE_MAX_BYTES);
});

describe.skipIf(missingBrowser().length > 0)('the page', () => {
  let stack: PageStack;
  let story: string;
  beforeAll(async () => {
    stack = await startPageStack();
    story = await tellOfTheBoat(stack);
  });
  afterAll(() => stack.stop());

  test.each([{ colorScheme: 'light' }, { colorScheme: 'dark' }] as const)(
    'axe finds no serious problem in the page: $colorScheme',
    async ({ colorScheme }) => {
      const { page, close } = await stack.open({ colorScheme, reducedMotion: 'reduce' });
      await openConversation(page, story);
      if (colorScheme === 'light') await compactNow(page);
      await page.locator('.record').first().waitFor();
      await page.locator('.turn').first().hover();

      const whole = await seriousFindings(page);
      await page.getByRole('tab', { name: 'Wire' }).click();
      await page.locator('.wire-requests li').first().waitFor();
      const wire = await seriousFindings(page);
      await page.getByRole('tab', { name: 'Compactions' }).click();
      await page.locator('.record').getByRole('button').first().click();
      await page.locator('.statement').first().hover();
      const detail = await seriousFindings(page);
      await close();

      expect([...whole, ...wire, ...detail]).toEqual([]);
    },
  );

  test('the page is interactive soon after it is opened', async () => {
    const { page, close } = await stack.open();
    await page.reload();
    await page.locator('textarea:focus').waitFor();
    const readyMs = await page.evaluate<number>('performance.now()');
    await close();

    console.log(`ready for a message after ${Math.round(readyMs)} ms`);
    expect(readyMs).toBeLessThan(3_000);
  });

  test('the page is in English throughout, whatever language the browser asks for', async () => {
    const { page, close } = await stack.open({ locale: 'ja' });
    await openConversation(page, story);

    const record = await page.locator('.record').first().innerText();
    const language = await page.evaluate<string>('document.documentElement.lang');
    await close();

    expect(language).toBe('en');
    expect(record).toContain('Compacted');
    expect(record).not.toMatch(/[\u3040-\u9fff]/);
  });

  test('the page scrolls 5,000 messages without long tasks and with few of them in the document', async () => {
    const chat = await startChatServer({ environment: { CORS_ORIGINS: '*' } });
    const token = await chat.keys.sign(idTokenClaims(chat.project, 'alice'));
    const local = await startPage({ port: 0, config: { chatUrl: chat.url, token } });
    const { store } = chat.dependencies;
    const built = { turns: 2_500, conversation: { ownerUid: 'alice' } };
    const { conversationId } = await buildConversation(store, built);
    const { page, close } = await stack.open();
    await page.goto(`${local.url}/#/c/${conversationId}`);
    await page.locator('.turn[data-seq="2500"]').waitFor();

    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    const before = await workSeconds(session);
    await page.evaluate(`new Promise((resolve) => {
      const box = document.querySelector('.messages');
      let frames = 0;
      const step = () => {
        box.scrollTop -= 400;
        frames += 1;
        if (frames < ${FRAMES}) requestAnimationFrame(step);
        else resolve();
      };
      requestAnimationFrame(step);
    })`);
    const workMs = (1_000 * ((await workSeconds(session)) - before)) / FRAMES;
    await page.evaluate('document.querySelector(".messages").scrollTo({ top: 0 })');
    await page.locator('.turn[data-seq="1"]').waitFor();
    const inDocument = await page.locator('.turn').count();
    await close();
    await Promise.all([local.close(), chat.stop()]);

    console.log(`${workMs.toFixed(1)} ms of work a frame, ${inDocument} turns in the document`);
    expect(workMs).toBeLessThan(FRAME_MAX_MS);
    expect(inDocument).toBeLessThan(60);
  });
});
