import { type RecipePage, startRecipePage } from '#test/recipes/recipe-page.ts';
import { withoutTold } from '#test/support/tools/tool-world.ts';
import { appCheckClaims } from '../support/token-keys.ts';
import { missingBrowser } from '../support/tools/missing-tools.ts';
import { startWireServer } from '../support/wire/wire-server.ts';
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const PROJECT_NUMBER = '123456789012';

async function say(page: Page, text: string) {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

const answers = (page: Page) => page.locator('[data-role="assistant"] p');
const shows = (page: Page, text: string) =>
  answers(page).getByText(text, { exact: true }).waitFor();

describe.skipIf(missingBrowser().length > 0)('the React page', () => {
  let recipe: RecipePage;
  beforeAll(async () => {
    recipe = await startRecipePage();
  });
  afterAll(() => recipe.stop());

  async function opened(options: Parameters<typeof startWireServer>[0] = {}) {
    const environment = { CORS_ORIGINS: recipe.origin, ...options.environment };
    const server = await startWireServer({ ...options, environment });
    onTestFinished(() => server.stop());
    const token = (await server.authorization()).replace('Bearer ', '');
    const appCheckToken = await server.keys.sign(appCheckClaims(PROJECT_NUMBER));
    const id = randomUUID();
    const open = async () => {
      const page = await recipe.open({ baseUrl: server.url, token, appCheckToken, id });
      onTestFinished(() => page.close());
      return page;
    };
    return { server, open, page: await open() };
  }

  /** A page that shows the first half of an answer. */
  async function halfway(options: Parameters<typeof startWireServer>[0] = {}) {
    const world = await opened(options);
    await say(world.page, 'Hello');
    const call = await world.server.callOf('Hello');
    call.say('Half');
    await shows(world.page, 'Half');
    return { ...world, call };
  }

  test('the React hook regains an answer whose connection is cut, with one model call', async () => {
    const { server, page, call } = await halfway();

    server.server.closeAllConnections();
    await page.getByRole('alert').waitFor();
    call.say(' and whole.');
    call.end();

    await shows(page, 'Half and whole.');
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await answers(page).count()).toBe(1);
    expect(server.callsOf('Hello')).toHaveLength(1);
  });

  test('the React hook edits a message and regenerates the answer', async () => {
    const { server, page, call } = await halfway();
    call.end();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Edit' }).click();
    await say(page, 'Good day');
    await server.answer('Good day', 'Good day to you.');
    await shows(page, 'Good day to you.');
    await page.getByRole('button', { name: 'Answer anew' }).click();
    await server.answer('Good day', 'Welcome.', 1);

    await shows(page, 'Welcome.');
    expect(await page.locator('article p').allInnerTexts()).toEqual(['Good day', 'Welcome.']);
  });

  test('the React hook sends a file, and the App Check token with it', async () => {
    const { server, page } = await opened({
      environment: { APP_CHECK: 'enforced', APP_CHECK_PROJECT_NUMBER: PROJECT_NUMBER },
    });

    await page
      .getByLabel('Files')
      .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('hello') });
    await say(page, 'What is it?');
    await server.answer('What is it?', 'A picture.');

    await shows(page, 'A picture.');
    const asked = server.callsOf('What is it?')[0]?.request.contents.at(-1);
    const data = Buffer.from('hello').toString('base64');
    expect(asked && withoutTold(asked).parts).toContainEqual({
      inlineData: { mimeType: 'image/png', data },
    });
  });
});
