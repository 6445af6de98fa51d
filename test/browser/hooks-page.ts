import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { type BundledPage, startBundledPage } from '#test/support/tools/bundled-page.ts';
import { startLocalBucket } from '#test/support/processes/local-bucket.ts';
import { startWireServer, type WireServer } from '#test/support/wire/wire-server.ts';
import type { Plugin } from 'esbuild';

const clients = fileURLToPath(new URL('../../clients', import.meta.url));

/** The blocks of a README that begin with the name of a file, by that name. */
function readmeFiles(readme: string): Map<string, string> {
  const text = readFileSync(readme, 'utf8');
  const blocks = text.matchAll(/^```\w+\n\/\/ (\S+)\n(.*?)^```$/gms);
  return new Map([...blocks].map(([, name = '', block = '']) => [name, block]));
}

/** The chats of clients/react/README.md, and beside them a draft that tells what changes between its renders. */
const ENTRY = `
import { asyncStorageStore, createRecap, indexedDbStore } from '@recap/client';
import { RecapProvider, useAppState, useChat } from '@recap/react';
import { createElement, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Chats } from './chats';

const { baseUrl, token, name, native } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

/** Of React Native, over localStorage. */
const AsyncStorage = {
  getItem: async (key) => localStorage.getItem(key),
  setItem: async (key, value) => localStorage.setItem(key, value),
  removeItem: async (key) => localStorage.removeItem(key),
  getAllKeys: async () => Object.keys(localStorage),
};
const listeners = new Set();
const AppState = {
  addEventListener: (_, listener) => {
    listeners.add(listener);
    return { remove: () => listeners.delete(listener) };
  },
};

const storage = native ? asyncStorageStore(AsyncStorage, name) : indexedDbStore(name);
const recap = createRecap({ baseUrl, getIdToken: async () => token, storage });

const ids = new Set();
const sends = new Set();
function Draft() {
  const [renders, setRenders] = useState(1);
  const { id, send, messages } = useChat();
  useAppState(AppState);
  ids.add(id);
  sends.add(send);
  return createElement('aside', { 'data-ids': ids.size, 'data-sends': sends.size },
    createElement('button', { onClick: () => setRenders(renders + 1) }, 'Render ' + renders),
    createElement('button', { onClick: () => void send('Of the draft') }, 'Send the draft'),
    messages.map((message) => createElement('p', { key: message.id }, message.text)));
}

const root = createRoot(document.getElementById('root'));
globalThis.app = {
  unmount: () => root.unmount(),
  signOut: async () => {
    root.unmount();
    recap.close();
    const deleting = indexedDB.deleteDatabase(name);
    await new Promise((resolve, reject) => Object.assign(deleting, { onsuccess: resolve, onerror: reject }));
    return (await indexedDB.databases()).length;
  },
  setState: (state) => listeners.forEach((listener) => listener(state)),
  keeps: async (text) => {
    for (const key of await storage.keys('chat/')) if ((await storage.get(key)).includes(text)) return true;
    return false;
  },
  send: (id, text, options) => recap.chat(id).send(text, options),
};
root.render(createElement(StrictMode, null,
  createElement(RecapProvider, { recap }, createElement('main', null, createElement(Chats)), createElement(Draft))));
`;

const AS_REACT_NATIVE = `${clients}/react/conformance/as-react-native.ts`;

const chatsOfReadme: Plugin = {
  name: 'chats of the README',
  setup: (build) => {
    build.onResolve({ filter: /^\.\/chats$/ }, () => ({ path: 'chats', namespace: 'readme' }));
    build.onLoad({ filter: /.*/, namespace: 'readme' }, () => ({
      contents: readmeFiles(`${clients}/react/README.md`).get('chats.tsx') ?? '',
      loader: 'tsx',
      resolveDir: clients,
    }));
  },
};

/** What a browser says of a connection that fails, and of a header that a page of another origin may not read. */
const OF_THE_BROWSER = /^(?:Failed to load resource|Refused to get unsafe header)/;

/** A page of the hooks, and how it asks. */
interface HooksPage {
  page: Page;
  /** Messages of React and errors of the page. */
  problems: readonly string[];
  /** By which means the page asked for event streams. */
  streamedBy: ReadonlySet<string>;
}

interface HooksWorld {
  server: WireServer;
  /** Event streams that the server has open. */
  openStreams: () => readonly string[];
  open: (options?: { uid?: string; isNative?: boolean }) => Promise<HooksPage>;
  stop: () => Promise<void>;
}

/** The hooks of clients/react in the page of their README, under StrictMode, before a real chat server. */
export async function startHooksPage(): Promise<BundledPage> {
  return startBundledPage({
    stdin: { contents: ENTRY, resolveDir: clients, loader: 'js' },
    alias: {
      '@recap/client': `${clients}/typescript/src/index.ts`,
      '@recap/react': `${clients}/react/src/index.ts`,
    },
    plugins: [chatsOfReadme],
    // React tells of mistakes, and mounts twice, only here.
    define: { 'process.env.NODE_ENV': '"development"' },
  });
}

/** A chat server of one test, and pages before it. */
export async function startHooksWorld({ browser, url, origin }: BundledPage): Promise<HooksWorld> {
  const { storage, bucket } = await startLocalBucket();
  const server = await startWireServer({
    environment: { CORS_ORIGINS: origin },
    overrides: { files: bucket },
  });
  const streams = new Map<ServerResponse, string>();
  server.server.prependListener('request', (request, response) => {
    if (request.headers.accept !== 'text/event-stream') return;
    streams.set(response, `${request.method} ${request.url}`);
    response.on('close', () => streams.delete(response));
  });
  return {
    server,
    openStreams: () => [...streams.values()],
    open: async ({ uid = 'alice', isNative = false } = {}) => {
      const context = await browser.newContext();
      const page = await context.newPage();
      if (isNative) await page.addInitScript({ path: AS_REACT_NATIVE });
      const problems: string[] = [];
      const streamedBy = new Set<string>();
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error' && !OF_THE_BROWSER.test(message.text()))
          problems.push(message.text());
      });
      page.on('request', (request) => {
        if (request.headers()['accept'] === 'text/event-stream')
          streamedBy.add(request.resourceType());
      });
      const token = (await server.authorization(uid)).replace('Bearer ', '');
      const visit = { baseUrl: server.url, token, name: uid, ...(isNative && { native: 'yes' }) };
      await page.goto(`${url}/#${new URLSearchParams(visit).toString()}`);
      await page.getByLabel('Message').waitFor();
      return { page, problems, streamedBy };
    },
    stop: async () => {
      await Promise.all([server.stop(), storage.close()]);
    },
  };
}
