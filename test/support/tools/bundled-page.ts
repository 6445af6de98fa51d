import { createServer } from 'node:http';
import { build, type BuildOptions } from 'esbuild';
import type { Browser } from 'playwright-core';
import { openServer } from '#infra/local/processes/open-server.ts';
import { launchBrowser } from '#test/support/tools/launch-browser.ts';

export interface BundledPage {
  browser: Browser;
  url: string;
  /** For CORS_ORIGINS. */
  origin: string;
  stop: () => Promise<void>;
}

/** A page for React, bundled as an app would be, on a server of its own, and a real browser. */
export async function startBundledPage(options: BuildOptions): Promise<BundledPage> {
  const { outputFiles } = await build({
    define: { 'process.env.NODE_ENV': '"production"' },
    ...options,
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
  });
  const script = outputFiles?.[0]?.text ?? '';
  const html = '<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>';
  const server = createServer((incoming, response) => {
    const isScript = incoming.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : html);
  });
  const { url, close } = await openServer(server);
  const browser = await launchBrowser();
  return {
    browser,
    url,
    origin: new URL(url).origin,
    stop: async () => {
      await browser.close();
      await close();
    },
  };
}
