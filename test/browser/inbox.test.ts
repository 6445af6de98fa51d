import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  boatStory,
  eraseMessage,
  openConversation,
  type PageStack,
  say,
  startPageStack,
  tell,
  tellOfTheBoat,
} from '../support/processes/browser.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

describe.skipIf(missingBrowser().length > 0)('the list of conversations in two windows', () => {
  let stack: PageStack;
  beforeAll(async () => {
    stack = await startPageStack();
  });
  afterAll(() => stack.stop());

  /** A window of the same user in a browser of its own; resolves when it follows the list. */
  async function openWindow(): Promise<Page> {
    const { page, close } = await stack.open();
    onTestFinished(close);
    await page.locator('.conversation').first().waitFor();
    return page;
  }

  /** A conversation with one answer, and two windows of which none shows it. */
  async function start(topic: string) {
    const title = `${topic} ${randomUUID().slice(0, 4)}`;
    const id = await tellOfTheBoat(stack, ['My boat is called Pixel.'], { title });
    return { id, title, one: await openWindow(), other: await openWindow() };
  }

  const entry = (page: Page, title: string) => page.locator('.conversation', { hasText: title });
  const unread = (page: Page, title: string) => entry(page, title).locator('.unread');

  async function act(page: Page, title: string, action: string): Promise<void> {
    await entry(page, title).getByLabel('Actions').click();
    await entry(page, title).getByRole('button', { name: action }).click();
  }

  test('a message of one window shows in the list and in the open transcript of the other, with its answer', async () => {
    const { id, title, one, other } = await start('Crossing');
    for (const page of [one, other]) await openConversation(page, id);

    await say(one, 'What is my boat called?');
    await other.locator('.turn[data-seq="2"] .message.model').waitFor();
    await say(other, 'And who is called Pixel?');
    await one.locator('.turn[data-seq="3"] .message.model').waitFor();

    for (const page of [one, other]) {
      const answer = await page.locator('.message.model').last().innerText();
      expect(answer).toContain('Pixel');
      await entry(page, title).filter({ hasText: answer }).waitFor();
      expect(await page.locator('.turn').count()).toBe(3);
    }
  });

  test('an answer that nobody has seen is unread in both windows until one shows it', async () => {
    const { id, title, one, other } = await start('Harbour');
    await entry(one, title).getByRole('button', { name: title }).first().click();
    for (const page of [one, other]) await unread(page, title).waitFor({ state: 'detached' });
    await one.getByRole('button', { name: 'New chat' }).click();

    await tell(stack, id, 'The harbour fee is 214.50 euros.');
    for (const page of [one, other]) await unread(page, title).filter({ hasText: '1' }).waitFor();
    await openConversation(other, id);
    for (const page of [one, other]) await unread(page, title).waitFor({ state: 'detached' });

    expect(await entry(one, title).innerText()).toContain('Noted.');
  });

  test('what was seen while the network failed is read when the network is back', async () => {
    const { id, title, one, other } = await start('Bridge');
    await one.route('**/*:read', (route) => route.abort());
    const failed = one.waitForEvent('requestfailed', (request) => request.url().endsWith(':read'));
    await openConversation(one, id);
    await failed;

    expect(await unread(other, title).innerText()).toContain('1');
    await one.unroute('**/*:read');
    await one.context().setOffline(true);
    await one.context().setOffline(false);

    await unread(other, title).waitFor({ state: 'detached' });
  });

  test('a message that another device deletes is no longer shown', async () => {
    const { id, one } = await start('Confession');
    const messageId = await tell(stack, id, 'I never paid the harbour fee.');
    await openConversation(one, id);
    const turn = one.locator('.turn[data-seq="2"]');
    await turn.filter({ hasText: 'never paid' }).waitFor();

    await eraseMessage(stack, id, messageId);
    await turn.filter({ hasText: 'This message was deleted.' }).waitFor();

    await expect.poll(() => one.locator('body').innerText()).not.toContain('never paid');
  });

  test('a conversation that is pinned, archived, taken back or deleted moves in both windows', async () => {
    const { title, one, other } = await start('Winter storage');
    await tellOfTheBoat(stack, ['Hello.'], { title: 'Newer' });
    const first = (page: Page) => page.locator('.conversation').first();
    const showOther = (page: Page, list: string) =>
      page.getByRole('button', { name: list, exact: true }).click();

    await act(one, title, 'Pin');
    for (const page of [one, other]) await first(page).filter({ hasText: title }).waitFor();
    await act(one, title, 'Archive');
    for (const page of [one, other]) await entry(page, title).waitFor({ state: 'detached' });
    for (const page of [one, other]) await showOther(page, 'Archive');
    await act(other, title, 'Unarchive');
    for (const page of [one, other]) await entry(page, title).waitFor({ state: 'detached' });
    for (const page of [one, other]) await showOther(page, 'All chats');
    await entry(other, title).getByRole('button', { name: title }).first().click();
    await other.locator('.turn[data-seq="1"]').waitFor();
    await act(one, title, 'Delete');
    await entry(other, title).waitFor({ state: 'detached' });
    await other.locator('.transcript-head', { hasText: 'New chat' }).waitFor();

    expect(await other.locator('.turn').count()).toBe(0);
  });

  test('a search finds a message of an older conversation, and opens it there; an archived one is found too', async () => {
    const word = `sextant${randomUUID().slice(0, 4)}`;
    const story = [`The spare key hangs behind the ${word}.`, ...boatStory];
    const id = await tellOfTheBoat(stack, story, { title: 'Keys' });
    const { id: archivedId, title, one } = await start(`Repair of the ${word}`);
    await tell(stack, archivedId, `The ${word} is in the workshop.`);
    await act(one, title, 'Archive');
    await entry(one, title).waitFor({ state: 'detached' });
    const results = one.locator('.search-results');
    const search = async (q: string) => {
      await one.getByLabel('Search all chats').fill(q);
      await one.keyboard.press('Enter');
    };
    const isInView = async (seq: number) => {
      const message = one.locator(`.turn[data-seq="${seq}"] .message.user`);
      const [box, view] = [
        await message.boundingBox(),
        await one.locator('.messages').boundingBox(),
      ];
      return box && view && box.y >= view.y && box.y + box.height <= view.y + view.height;
    };

    await search(word.toUpperCase());
    await results.getByRole('status').filter({ hasText: '2 messages' }).waitFor();
    const marked = await results.locator('mark').allInnerTexts();
    const titles = await results.getByRole('button', { name: title, exact: true }).count();
    await results.getByRole('button', { name: 'in the workshop' }).click();
    await one.locator('.transcript-head', { hasText: title }).waitFor();
    await results.getByRole('button', { name: 'The spare key' }).click();
    await one.locator('.transcript-head', { hasText: 'Keys' }).waitFor();
    await expect.poll(() => isInView(1)).toBe(true);
    const isNewestInView = await isInView(story.length);
    await search('astrolabe');
    await one.getByText('No message has these words.').waitFor();
    await one.keyboard.press('Escape');
    await entry(one, 'Keys').first().waitFor();

    expect(titles).toBe(1);
    expect(marked).toEqual([word, word, word, word]);
    expect(one.url()).toContain(id);
    expect(isNewestInView).toBe(false);
  });

  test('a window that was offline goes on behind the last event, and shows what it has missed', async () => {
    const { id, one, other } = await start('Passage');
    await openConversation(one, id);
    const cursors: (string | null)[] = [];
    one.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/v1/users/me/events') cursors.push(searchParams.get('cursor'));
    });

    await one.context().setOffline(true);
    await tell(stack, id, 'The registration is NL-48213.');
    await tell(stack, id, 'The berth is seventeen.');
    const news = await tellOfTheBoat(stack, ['Good morning.'], { title: `News of ${id}` });
    await entry(other, `News of ${id}`).waitFor();
    await one.context().setOffline(false);
    await entry(one, `News of ${id}`).waitFor();
    await one.locator('.turn[data-seq="3"] .message.model').waitFor();
    await one.locator('.turn[data-seq="2"] .message.model').waitFor();

    expect(await one.locator('.message.user').allInnerTexts()).toEqual([
      'My boat is called Pixel.',
      'The registration is NL-48213.',
      'The berth is seventeen.',
    ]);
    expect(cursors.length).toBeGreaterThan(0);
    expect(cursors.every((cursor) => cursor !== null)).toBe(true);
    await openConversation(one, news);
    await unread(other, `News of ${id}`).waitFor({ state: 'detached' });
  });
});
