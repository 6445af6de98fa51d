import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { type Stack, type StackOptions, startStack } from '#infra/local/stack/start-stack.ts';
import { browserPath } from '../tools/missing-tools.ts';

/** What a user does not see and a developer must: errors of scripts, and what the page's own policy forbids. */
interface PageProblems {
  list: readonly string[];
}

export interface OpenPage {
  page: Page;
  problems: PageProblems;
  /** Whatever the console shows as an error, a failed request included. */
  consoleErrors: readonly string[];
  close: () => Promise<void>;
}

export interface PageStack {
  stack: Stack;
  browser: Browser;
  /** The page in a browser profile of its own. */
  open(options?: BrowserContextOptions): Promise<OpenPage>;
  stop(): Promise<void>;
}

/** The local stack with its page, and a browser; the store in memory unless told otherwise. */
export async function startPageStack(options: Partial<StackOptions> = {}): Promise<PageStack> {
  const stack = await startStack({
    embedded: true,
    hasPage: true,
    log: () => undefined,
    ...options,
  });
  const executablePath = browserPath();
  const browser = await chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    // A container's root has no sandbox; the page is ours.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  return {
    stack,
    browser,
    open: async (contextOptions = {}) => {
      const context = await browser.newContext({
        locale: 'en',
        viewport: { width: 1440, height: 900 },
        ...contextOptions,
      });
      const page = await context.newPage();
      const list: string[] = [];
      const consoleErrors: string[] = [];
      page.on('pageerror', (error) => void list.push(error.message));
      page.on('console', (message) => {
        if (/Content Security Policy|Refused to/.test(message.text())) list.push(message.text());
        if (message.type() === 'error') consoleErrors.push(message.text());
      });
      await page.goto(`${stack.pageUrl}/`);
      return { page, problems: { list }, consoleErrors, close: () => context.close() };
    },
    stop: async () => {
      await browser.close();
      await stack.stop();
    },
  };
}
