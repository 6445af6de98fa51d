import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  openConversation,
  type PageStack,
  say,
  startPageStack,
  tellOfTheBoat,
} from '../support/processes/browser.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

describe.skipIf(missingBrowser().length > 0)('the page without the service', () => {
  let stack: PageStack;
  beforeAll(async () => {
    stack = await startPageStack();
  });
  afterAll(() => stack.stop());

  /** A page whose files come, while the service can be taken away. */
  async function open() {
    const { page, close } = await stack.open();
    onTestFinished(close);
    const context = page.context();
    const ofService = `${stack.stack.chatUrl}/**`;
    return {
      page,
      context,
      takeDown: () => context.route(ofService, (route) => route.abort('connectionrefused')),
      bringBack: () => context.unroute(ofService),
    };
  }

  async function write(page: Page, text: string): Promise<void> {
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
    await page.locator('.message.user', { hasText: text }).waitFor();
  }

  /** What waits is tried at once when a device is online again. */
  async function wake(context: BrowserContext): Promise<void> {
    await context.setOffline(true);
    await context.setOffline(false);
  }

  const saidIn = (page: Page) => page.locator('.message.user').allInnerTexts();

  test('a message that was written without the service survives a reload, and is sent once when it is back', async () => {
    const { page, context, takeDown, bringBack } = await open();
    await say(page, 'My boat is called Pixel.');
    await takeDown();
    await write(page, 'What is my boat called?');
    await page.getByText('Not sent yet: it is sent as soon as the service').waitFor();

    await page.reload();
    await page.locator('.message.user', { hasText: 'What is my boat called?' }).waitFor();
    const row = page.locator('.conversation', { hasText: 'My boat is called Pixel.' });
    await row.filter({ hasText: 'Not sent yet' }).waitFor();
    await bringBack();
    await wake(context);
    const answer = page.locator('.turn[data-seq="2"] .message.model');
    await answer.filter({ hasText: 'Pixel' }).waitFor();
    await page.reload();
    await answer.waitFor();

    expect(await saidIn(page)).toEqual(['My boat is called Pixel.', 'What is my boat called?']);
  });

  test('a conversation opens from the store, with its place in the list', async () => {
    const { page, takeDown } = await open();
    const id = await tellOfTheBoat(stack, ['My boat is called Pixel.', 'She is blue.'], {
      title: 'Passage',
    });
    await openConversation(page, id);
    await page.locator('.conversation', { hasText: 'Passage' }).waitFor();
    await page.locator('.gauge-figure').waitFor();

    await takeDown();
    await page.reload();
    await page.locator('.turn[data-seq="2"] .message.model').waitFor();
    await page.locator('.conversation', { hasText: 'Passage' }).waitFor();
    await page.getByText('No connection. It is tried again.').first().waitFor();

    expect(await saidIn(page)).toEqual(['My boat is called Pixel.', 'She is blue.']);
    expect(await page.locator('.transcript-head').innerText()).toBe('Passage');
  });

  test('a message that waits can be discarded, and those behind it are sent', async () => {
    const { page, context, takeDown, bringBack } = await open();
    await say(page, 'My cat is called Ada.');
    await takeDown();
    await write(page, 'I take that back.');
    await write(page, 'What is my cat called?');

    const waiting = page.locator('.turn', { hasText: 'I take that back.' });
    await waiting.getByRole('button', { name: 'Discard' }).click();
    await waiting.waitFor({ state: 'detached' });
    await bringBack();
    await wake(context);
    await page.locator('.turn[data-seq="2"] .message.model').waitFor();

    expect(await saidIn(page)).toEqual(['My cat is called Ada.', 'What is my cat called?']);
  });

  test('a message that the service refuses says why, and is sent again when the user asks for it', async () => {
    const { page } = await open();
    await say(page, 'My dog is called Bo.');
    const reason = 'Come back tomorrow.';
    const details = [{ reason: 'USER_DAILY_MESSAGES', metadata: { final: 'true' } }];
    await page.route('**/messages', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'access-control-allow-origin': '*' },
        json: { error: { message: reason, details } },
      }),
    );
    await write(page, 'What is my dog called?');
    await page.getByText(`Not sent. ${reason}`).waitFor();

    await page.unroute('**/messages');
    await page.reload();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.turn[data-seq="2"] .message.model').waitFor();

    expect(await saidIn(page)).toEqual(['My dog is called Bo.', 'What is my dog called?']);
  });

  test('what two windows of one browser wrote without the service is sent, each message once', async () => {
    const { page, context, takeDown, bringBack } = await open();
    await say(page, 'My boat is called Pixel.');
    const other = await context.newPage();
    await other.goto(page.url());
    await other.locator('.turn[data-seq="1"]').waitFor();
    await takeDown();
    await write(page, 'She is blue.');
    await write(other, 'She is fast.');

    await other.close();
    await page.reload();
    for (const text of ['She is blue.', 'She is fast.'])
      await page.locator('.message.user', { hasText: text }).waitFor();
    await bringBack();
    await wake(context);
    await page.locator('.turn[data-seq="3"] .message.model').waitFor();
    await page.reload();
    await page.locator('.turn[data-seq="3"] .message.model').waitFor();

    expect((await saidIn(page)).toSorted()).toEqual([
      'My boat is called Pixel.',
      'She is blue.',
      'She is fast.',
    ]);
  });
});
