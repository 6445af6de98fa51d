import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium, type Page } from 'playwright-core';
import { openServer } from '#infra/local/processes/open-server.ts';
import { browserPath } from '#test/support/tools/missing-tools.ts';

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

async function bundlePage(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: RECIPES, loader: 'js' },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const [file] = outputFiles;
  if (!file) throw new Error('no bundle was made');
  return file.text;
}

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
  const script = await bundlePage();
  const html = '<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>';
  const server = createServer(({ url }, response) => {
    const isScript = url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : html);
  });
  const { url, close } = await openServer(server);
  const executablePath = browserPath();
  const browser = await chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  return {
    origin: new URL(url).origin,
    open: async (visit) => {
      const page = await browser.newPage();
      await page.goto(`${url}/#${new URLSearchParams({ ...visit }).toString()}`);
      await page.getByLabel('Message').waitFor();
      return page;
    },
    stop: async () => {
      await browser.close();
      await close();
    },
  };
}
