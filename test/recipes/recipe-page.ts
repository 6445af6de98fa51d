import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { startBundledPage } from '#test/support/tools/bundled-page.ts';

const RECIPES = fileURLToPath(new URL('../../docs/clients/recipes/', import.meta.url));

/** The page of docs/clients/web-usechat.md; who asks and where stands in its address. */
const ENTRY = `
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { ChatPage, createChat } from './chat';
import { loadPages } from './use-chat';

const { baseUrl, token, appCheckToken, id } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const backend = {
  baseUrl,
  getIdToken: async () => token,
  ...(appCheckToken && { getAppCheckToken: async () => appCheckToken }),
};
const pages = loadPages(backend, id);
const chat = createChat(backend, { id, messages: (await pages.next()).value ?? [] });
createRoot(document.getElementById('root')).render(createElement(ChatPage, { backend, chat }));
for await (const earlier of pages) chat.messages = [...earlier, ...chat.messages];
`;

/** Who a page asks, and for which conversation. */
interface Visit {
  baseUrl: string;
  token: string;
  appCheckToken?: string;
  id: string;
}

export interface RecipePage {
  /** For CORS_ORIGINS. */
  origin: string;
  open(visit: Visit): Promise<Page>;
  stop(): Promise<void>;
}

/** The React recipe for the web, bundled as an app would be, on a server of its own and in a real browser. */
export async function startRecipePage(): Promise<RecipePage> {
  const stdin = { contents: ENTRY, resolveDir: RECIPES, loader: 'js' } as const;
  const { browser, url, origin, stop } = await startBundledPage({ stdin });
  return {
    origin,
    open: async (visit) => {
      const page = await browser.newPage();
      await page.goto(`${url}/#${new URLSearchParams({ ...visit }).toString()}`);
      await page.getByLabel('Message').waitFor();
      return page;
    },
    stop,
  };
}
