import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PageStack, startPageStack } from '../support/processes/browser.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

describe.skipIf(missingBrowser().length > 0)('the player', () => {
  let stack: PageStack;
  beforeAll(async () => {
    stack = await startPageStack();
  });
  afterAll(() => stack.stop());

  async function openPlayer(locale = 'en', tab = 'Player') {
    const opened = await stack.open({ locale });
    await opened.page.getByRole('tab', { name: tab }).click();
    await opened.page.locator('.tool.player').waitFor();
    return opened;
  }

  test('the player plays a sample recording until its compaction is visible', async () => {
    const { page, problems, close } = await openPlayer();
    await page.getByLabel('Between messages').selectOption('0');
    await page.getByRole('button', { name: 'Play', exact: true }).click();

    await page.getByText('Compactions: 1').waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Pause' }).click();
    const position = await page.locator('.player-progress progress').getAttribute('value');
    await page.getByRole('button', { name: 'Stop', exact: true }).last().click();

    expect(Number(position)).toBeGreaterThan(10);
    expect(await page.locator('.player-progress').getAttribute('data-state')).toBe('stopped');
    expect(problems.list).toEqual([]);
    await close();
  });

  test('the player plays a recording from the user’s file, in Japanese as well', async () => {
    const { page, close } = await openPlayer('ja', '再生');
    const turns = ['りんごは三つです。', '机は二メートルです。'].flatMap((text) => [
      { role: 'user', parts: [{ text }] },
      { role: 'model', parts: [{ text: 'はい。' }] },
    ]);
    await page.locator('input[type=file]').setInputFiles({
      name: 'own.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from(`${JSON.stringify({ id: 'own', turns })}\n`),
    });

    await page.getByRole('button', { name: '再生', exact: true }).click();
    await page.getByText('2 件中 2 件').waitFor();

    expect(await page.locator('.player-progress').getAttribute('data-state')).toBe('ended');
    await close();
  });

  test('the player refuses a file that is no recording and names the line', async () => {
    const { page, close } = await openPlayer();

    await page.locator('input[type=file]').setInputFiles({
      name: 'x.jsonl',
      mimeType: 'application/jsonl',
      buffer: Buffer.from('hello'),
    });

    await page.getByRole('alert').getByText('Line 1 is no recorded conversation').waitFor();
    expect(await page.getByRole('button', { name: 'Play', exact: true }).isDisabled()).toBe(true);
    await close();
  });
});
