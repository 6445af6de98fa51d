import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { type OpenPage, type PageStack, startPageStack } from '../support/processes/browser.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

const shell = promisify(execFile);

describe.skipIf(missingBrowser().length > 0)('the wire tab', () => {
  let stack: PageStack;
  let opened: OpenPage;
  beforeAll(async () => {
    stack = await startPageStack();
    opened = await stack.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = opened;
    await page.getByRole('textbox', { name: 'Message' }).fill('Pixel is a dog of four years.');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Wire' }).click();
    await page.locator('.wire-frames tr', { hasText: 'finish' }).waitFor();
  });
  afterAll(() => stack.stop());

  test('the wire tab shows stream events with rising ids', async () => {
    const cells = await opened.page
      .locator('.wire-frames [data-frame] td:first-child')
      .allInnerTexts();
    const ids = cells.map(Number);

    expect(ids.length).toBeGreaterThan(4);
    expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
    expect(ids[0]).toBe(0);
  });

  test('the wire tab copies a request as a working curl command without the token', async () => {
    const { page } = opened;
    const row = page.locator('.wire-requests li', { hasText: 'POST' }).first();
    await row.getByRole('button').click();
    await row.getByText('Copied').waitFor();

    const command = String(await page.evaluate('navigator.clipboard.readText()'));
    const token = unsignedToken({ uid: 'ada', projectId: 'demo-recap', now: new Date() });
    const { stdout } = await shell('bash', ['-euc', command], {
      env: { ...process.env, RECAP_TOKEN: token },
    });

    expect(command).not.toMatch(/eyJ/);
    expect(stdout).toMatch(/"replayed":true[^]*"finish"[^]*\[DONE\]/);
  });

  test('the wire tab breaks neither the page nor its content security policy', () => {
    expect(opened.problems.list).toEqual([]);
  });
});
