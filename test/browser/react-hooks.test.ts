import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { BundledPage } from '../support/tools/bundled-page.ts';
import { startHooksPage, startHooksWorld } from './hooks-page.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';

describe.skipIf(missingBrowser().length > 0)('the hooks of React', () => {
  let bundled: BundledPage;
  beforeAll(async () => {
    bundled = await startHooksPage();
  });
  afterAll(() => bundled.stop());

  async function start() {
    const world = await startHooksWorld(bundled);
    onTestFinished(() => world.stop());
    const open = async (options?: Parameters<typeof world.open>[0]) => {
      const opened = await world.open(options);
      onTestFinished(async () => {
        await opened.page.context().close();
        expect(opened.problems).toEqual([]);
      });
      return opened;
    };
    return { ...world, open };
  }

  const chats = (page: Page) => page.getByRole('main');

  async function say(page: Page, text: string) {
    await page.getByLabel('Message').fill(text);
    await page.getByLabel('Message').press('Enter');
  }

  const shows = (page: Page, text: string, state = 'done') =>
    chats(page).locator(`p[data-state="${state}"]`).getByText(text, { exact: true }).waitFor();

  const row = (page: Page, text: string) =>
    chats(page).getByRole('button', { name: text, exact: true });

  async function streamsEnd(world: Awaited<ReturnType<typeof start>>, path: RegExp) {
    const open = () => world.openStreams().filter((stream) => path.test(stream));
    await expect.poll(open, { timeout: 10_000 }).toEqual([]);
  }

  for (const isNative of [false, true]) {
    const where = isNative ? 'with what React Native has' : 'in a browser';

    test(`${where}, an answer shows while it is written, and its conversation in the list of another device`, async () => {
      const { server, open } = await start();
      const one = await open({ isNative });
      const other = await open({ isNative });

      await say(one.page, 'Hello');
      const call = await server.callOf('Hello');
      call.say('Half');
      await shows(one.page, 'Half', 'running');
      await row(other.page, 'Hello').click();
      await shows(other.page, 'Half', 'running');
      call.say(' and whole.');
      call.end();

      for (const { page, streamedBy } of [one, other]) {
        await shows(page, 'Half and whole.');
        await row(page, 'Half and whole.').waitFor();
        expect([...streamedBy]).toEqual([isNative ? 'xhr' : 'fetch']);
      }
      expect(server.calls).toHaveLength(1);
    });

    test(`${where}, a page without a connection shows what was kept after a reload, and sends what was typed when it is back`, async () => {
      const { server, open } = await start();
      const { page } = await open({ isNative });
      await say(page, 'Hello');
      await server.answer('Hello', 'Hi.');
      await shows(page, 'Hi.');
      await expect.poll(() => page.evaluate("app.keeps('Hi.')")).toBe(true);

      await page.route(`${server.url}/**`, (route) => route.abort());
      await say(page, 'Are you there?');
      await shows(page, 'Are you there?', 'pending');
      await page.reload();
      await row(page, 'Are you there?').click();
      await shows(page, 'Hi.');
      await shows(page, 'Are you there?', 'pending');
      await page.unroute(`${server.url}/**`);
      await page.evaluate("dispatchEvent(new Event('online'))");

      await server.answer('Are you there?', 'Yes.');
      await shows(page, 'Yes.');
      expect(server.calls).toHaveLength(2);
    });

    test(`${where}, another conversation closes the stream of the first, whose answer is whole when it is shown again`, async () => {
      const world = await start();
      const { page } = await world.open({ isNative });
      await say(page, 'First');
      const call = await world.server.callOf('First');
      call.say('One');
      await shows(page, 'One', 'running');

      await page.getByRole('button', { name: 'New chat' }).click();
      await streamsEnd(world, /conversations/);
      await say(page, 'Second');
      await world.server.answer('Second', 'Two.');
      await shows(page, 'Two.');
      expect(await chats(page).getByText('First', { exact: true }).count()).toBe(1);
      call.say(' is done.');
      call.end();
      await row(page, 'One is done.').click();

      await shows(page, 'One is done.');
      expect(await chats(page).locator('p').allInnerTexts()).toEqual(['First', 'One is done.']);
    });
  }

  test('a page whose React tree is gone has no stream open', async () => {
    const world = await start();
    const { page } = await world.open();
    await say(page, 'Hello');
    (await world.server.callOf('Hello')).say('Half');
    await shows(page, 'Half', 'running');
    // StrictMode has mounted twice: one stream of the list, and one of the answer, are left.
    await expect.poll(() => world.openStreams().length).toBe(2);

    await page.evaluate('app.unmount()');

    await streamsEnd(world, /./);
  });

  test('an app in the background has no stream of the list, and in front it has one again', async () => {
    const world = await start();
    const { page } = await world.open({ isNative: true });
    const listStreams = () => world.openStreams().filter((stream) => stream.includes('/events'));
    await expect.poll(() => listStreams().length).toBe(1);

    await page.evaluate("app.setState('background')");
    await streamsEnd(world, /events/);
    await page.evaluate("app.setState('active')");
    await expect.poll(() => listStreams().length).toBe(1);
  });

  test('at sign-out the database of the user can be deleted', async () => {
    const { server, open } = await start();
    const { page } = await open();
    await say(page, 'Hello');
    await server.answer('Hello', 'Hi.');
    await expect.poll(() => page.evaluate("app.keeps('Hi.')")).toBe(true);

    expect(await page.evaluate('app.signOut()')).toBe(0);
  });

  test('a new conversation keeps its id and its functions over renders and its first message', async () => {
    const { server, open } = await start();
    const { page } = await open();
    const draft = page.getByRole('complementary');

    await draft.getByRole('button', { name: 'Render 1' }).click();
    await draft.getByRole('button', { name: 'Send the draft' }).click();
    await server.answer('Of the draft', 'Taken.');
    await draft.getByText('Taken.', { exact: true }).waitFor();
    await draft.getByRole('button', { name: 'Render 2' }).click();
    await draft.getByRole('button', { name: 'Render 3' }).waitFor();

    expect(await draft.getAttribute('data-ids')).toBe('1');
    expect(await draft.getAttribute('data-sends')).toBe('1');
  });

  test('in React Native a file of the device is sent by its address', async () => {
    const { server, open } = await start();
    const { page } = await open({ isNative: true });
    const file = { uri: 'data:image/png;base64,iVBORw0KGgo=', type: 'image/png', name: 'a.png' };

    await page.evaluate(`app.send(undefined, 'What is it?', { files: [${JSON.stringify(file)}] })`);
    await server.answer('What is it?', 'A picture.');

    await row(page, 'A picture.').waitFor();
    expect(JSON.stringify(server.calls[0]?.request.contents)).toContain('image/png');
  });
});
