import type { Page } from 'playwright-core';

/** Runs a fault of the fault panel, whose tab is shown, and waits for the verdict. */
export async function runFault(
  page: Page,
  fault: string,
  timeoutMs = 60_000,
): Promise<{ outcome: string; sentence: string }> {
  const card = page.locator(`[data-fault=${fault}]`);
  await card.getByRole('button', { name: /^Run/ }).click();
  await page.locator(`[data-fault=${fault}][data-outcome=running]`).waitFor();
  const ended = ['held', 'broken', 'unclear', 'failed'].map(
    (outcome) => `[data-fault=${fault}][data-outcome=${outcome}]`,
  );
  await page.locator(ended.join(', ')).waitFor({ timeout: timeoutMs });
  return {
    outcome: (await card.getAttribute('data-outcome')) ?? '',
    sentence: await card.locator('.fault-result').innerText(),
  };
}
