import { chromium, type Browser } from 'playwright-core';
import { browserPath } from './missing-tools.ts';

const ARGUMENTS = [
  // A container's root has no sandbox; the pages are ours.
  '--no-sandbox',
  '--disable-dev-shm-usage',
  // There is nothing to draw on but the processor.
  '--disable-gpu',
  // It would look for servers of its maker at every start.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The machine's own browser, without a window. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = browserPath();
  return chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: ARGUMENTS,
  });
}
