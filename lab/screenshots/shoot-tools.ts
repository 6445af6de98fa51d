import type { Page } from 'playwright-core';
import type { PageStack } from '#test/support/processes/browser.ts';
import { runFault } from '#test/support/processes/fault-card.ts';

/** Pictures of the tabs Faults, Wire and Player, and of one message over four protocols. */
export async function shootTools(
  stack: PageStack,
  shoot: (page: Page, name: string) => Promise<unknown>,
): Promise<void> {
  const { page, close } = await stack.open({ viewport: { width: 1360, height: 850 } });
  await page.getByRole('tab', { name: 'Faults' }).click();
  for (const fault of ['resend', 'drop']) await runFault(page, fault);
  await page.locator('[data-fault=drop]').scrollIntoViewIfNeeded();
  await shoot(page, 'faults');

  await page.getByRole('tab', { name: 'Wire' }).click();
  await page.locator('.wire-requests li').first().waitFor();
  // Where the stream went on behind the cut.
  await page.locator('.wire-stream').last().scrollIntoViewIfNeeded();
  await shoot(page, 'wire');
  await page.getByRole('button', { name: 'Compare protocols' }).click();
  await page.getByRole('button', { name: 'Send over all four' }).click();
  await page.locator('[data-facade] pre').nth(3).waitFor();
  await shoot(page, 'protocols');
  await page.keyboard.press('Escape');

  await page.getByRole('tab', { name: 'Player' }).click();
  await page.getByLabel('Between messages').selectOption('0');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.getByText('Compactions: 1').waitFor({ timeout: 120_000 });
  await page.getByRole('button', { name: 'Pause' }).click();
  await shoot(page, 'player');
  await close();
}
