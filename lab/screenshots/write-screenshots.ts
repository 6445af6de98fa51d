import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readOptions, runCommand } from '#infra/command-line.ts';
import type { Page } from 'playwright-core';
import {
  compactNow,
  openConversation,
  openDetail,
  type PageStack,
  say,
  startPageStack,
  tellOfTheBoat,
} from '#test/support/processes/browser.ts';
import { INSTALL_BROWSER, missingBrowser } from '#test/support/tools/missing-tools.ts';
import { crossingStory, otherStories } from './crossing-story.ts';

const help = `Usage: npm run screenshots

Starts the local stack and a browser, and writes docs/images/*.png anew.

  --help   this text

Exit code: 0 written; 2 wrong arguments.`;

/** A little more than the story has, so that the gauge is nearly full. */
const THRESHOLD_TOKENS = 2_000;

const directory = fileURLToPath(new URL('../../docs/images/', import.meta.url));

async function control({ stack }: PageStack, what: string, body: object): Promise<void> {
  const url = `${stack.fakeGeminiUrl}/control/${what}`;
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
}

/** The fake Gemini says what the story has. */
const learnStory = (stack: PageStack): Promise<void> =>
  control(stack, 'answers', {
    answers: crossingStory.map(({ says, answer }) => ({
      userHash: createHash('sha256').update(says).digest('hex'),
      ordinal: 1,
      contents: [{ role: 'model', parts: [{ text: answer }] }],
    })),
  });

const shoot = (page: Page, name: string): Promise<Buffer> =>
  page.screenshot({ path: `${directory}${name}.png`, animations: 'disabled' });

/** The conversation after it is compacted, what was kept, and what went over the wire. */
async function shootCompaction(stack: PageStack, id: string): Promise<void> {
  const { page, close } = await stack.open({ viewport: { width: 1360, height: 850 } });
  await openConversation(page, id);
  await page.waitForTimeout(500);
  await compactNow(page);
  await page.locator('.fold-mark').scrollIntoViewIfNeeded();
  await page.waitForTimeout(400);
  await shoot(page, 'page');
  await openDetail(page);
  await page.locator('.statement', { hasText: '05:30' }).first().hover();
  await page.waitForTimeout(300);
  await shoot(page, 'provenance');
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Wire' }).click();
  await say(page, 'Thank you.');
  await page.locator('.wire-frames tr', { hasText: 'finish' }).waitFor();
  await shoot(page, 'wire');
  await close();
}

async function shootDark(stack: PageStack, id: string): Promise<void> {
  const { page, close } = await stack.open({
    viewport: { width: 1360, height: 850 },
    colorScheme: 'dark',
  });
  await openConversation(page, id);
  await page.locator('.record').waitFor();
  await page.waitForTimeout(400);
  await shoot(page, 'dark');
  await close();
}

async function shootPhone(stack: PageStack, id: string): Promise<void> {
  const { page, close } = await stack.open({
    viewport: { width: 320, height: 640 },
    deviceScaleFactor: 2,
    hasTouch: true,
  });
  await openConversation(page, id);
  await page.waitForTimeout(400);
  await shoot(page, 'phone-transcript');
  await close();
}

async function shootAll(): Promise<void> {
  if (missingBrowser().length > 0) throw new Error(`no browser is installed: ${INSTALL_BROWSER}`);
  await mkdir(directory, { recursive: true });
  const stack = await startPageStack({ environment: { TITLES: 'on' } });
  try {
    await learnStory(stack);
    for (const says of otherStories) await tellOfTheBoat(stack, [says]);
    const id = await tellOfTheBoat(
      stack,
      crossingStory.map(({ says }) => says),
      { title: 'To Cuxhaven in June', settings: { thresholdTokens: THRESHOLD_TOKENS } },
    );
    await shootCompaction(stack, id);
    await shootDark(stack, id);
    await shootPhone(stack, id);
  } finally {
    await stack.stop();
  }
}

process.exitCode = await runCommand(help, async (argv) => {
  if (readOptions(argv, { help: { type: 'boolean' } }).help === true) return 'help';
  await shootAll();
  return 0;
});
