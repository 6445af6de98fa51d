import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { LOCAL_USER } from '#infra/local/stack/stack-environment.ts';
import { type Stack, type StackOptions, startStack } from '#infra/local/stack/start-stack.ts';
import { launchBrowser } from '../tools/launch-browser.ts';

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
  const browser = await launchBrowser();
  return {
    stack,
    browser,
    open: async (contextOptions = {}) => {
      const context = await browser.newContext({
        locale: 'en',
        // What moves is drawn again and again, by the processor.
        reducedMotion: 'reduce',
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

/* What a person does on the page; the tests and the screenshots do the same. */

/** Statements about a boat, each of which a snapshot is to keep. */
export const boatFacts = [
  'My boat is called Pixel, her registration is NL-48213.',
  'I always want answers in metric units, never in feet.',
  'We decided to paint the hull blue before 2027-03-15.',
  'The harbour fee is 214.50 euros until 2027-09-30.',
] as const;

const logEntry = (entry: number): string =>
  `Log entry ${entry}: ${'the wind came from the north-west with gusts, the sea was moderate and the barometer fell slowly. '.repeat(10)}`;

/** Fills in and sends; resolves when the answer has ended. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Send' }).waitFor();
}

/** What the user says in a conversation that is long enough to be compacted. */
export const boatStory: readonly string[] = [
  ...boatFacts,
  ...Array.from({ length: 5 }, (_, index) => logEntry(index + 1)),
];

async function call(
  { stack }: PageStack,
  method: string,
  path: string,
  body?: object,
): Promise<void> {
  const token = unsignedToken({ uid: LOCAL_USER, projectId: stack.projectId, now: new Date() });
  const response = await fetch(`${stack.chatUrl}/v1/conversations${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path} was refused: ${await response.text()}`);
}

/** Sends a message as another device does, without the page; resolves to its id when it is answered. */
export async function tell(stack: PageStack, id: string, text: string): Promise<string> {
  const messageId = randomUUID();
  const message = { id: messageId, parts: [{ type: 'text', text }] };
  await call(stack, 'POST', `/${id}/messages`, { message });
  return messageId;
}

/** Deletes a message as another device does. */
export const eraseMessage = (stack: PageStack, id: string, messageId: string): Promise<void> =>
  call(stack, 'DELETE', `/${id}/messages/${messageId}`);

/** Tells the story as an app would, without the page; resolves to the conversation's id. */
export async function tellOfTheBoat(
  stack: PageStack,
  story: readonly string[] = boatStory,
  begin: {
    title?: string;
    settings?: { thresholdTokens: number };
    tools?: readonly object[];
  } = {},
): Promise<string> {
  const id = randomUUID();
  await call(stack, 'POST', '', { id, ...begin });
  for (const text of story) await tell(stack, id, text);
  return id;
}

/** Opens a conversation by its address; resolves when its newest turn is shown. */
export async function openConversation(page: Page, id: string): Promise<void> {
  await page.goto(`${page.url().split('#')[0]}#/c/${id}`);
  await page.locator('.turn[data-seq]').last().waitFor();
}

/** Asks for a compaction; resolves when its outcome stands in the timeline. */
export async function compactNow(page: Page): Promise<void> {
  const records = page.locator('.record');
  const before = await records.count();
  await page.getByRole('button', { name: 'Compact now' }).click();
  await records.nth(before).waitFor();
}

/** Opens the detail of the newest compaction. */
export async function openDetail(page: Page): Promise<void> {
  await page.locator('.record').getByRole('button', { name: 'Show what was kept' }).first().click();
  await page.locator('.statement').first().waitFor();
}
