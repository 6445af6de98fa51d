import { createServer } from 'node:http';
import { extname } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { type OpenServer, openServer } from '../processes/open-server.ts';
import { isLoopbackHost } from '../processes/refuse-foreign.ts';
import { buildPage, type PageFiles } from './build-page.ts';
import { pageHeaders } from './page-headers.ts';

/** What the page reads as `/config.json`. */
interface LocalPageConfig {
  chatUrl: string;
  /** Of the user whom the page acts for. */
  token: string;
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** Names in here carry a hash of what is in them. */
const isImmutable = (path: string): boolean => path.startsWith('/assets/');

/**
 * Serves the page with the headers that Firebase Hosting gives it. It listens at once; requests wait
 * until the page is built.
 */
export async function startPage(options: {
  port: number;
  config: LocalPageConfig;
}): Promise<OpenServer> {
  let built: Promise<PageFiles> | undefined;
  // Sources that did not build may be mended meanwhile.
  const files = (): Promise<PageFiles> => {
    built ??= buildPage().catch((error: unknown) => {
      built = undefined;
      throw error;
    });
    return built;
  };

  const app = new Hono();
  const headers = pageHeaders([options.config.chatUrl]);
  app.use(async (context, next) => {
    // The configuration holds tokens.
    if (!isLoopbackHost(context.req.header('host')))
      return context.text('The page is for this machine alone.', 403);
    await next();
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    return undefined;
  });
  app.get('/config.json', (context) => {
    context.header('cache-control', 'no-store');
    return context.json(options.config);
  });
  app.get('*', async (context) => {
    const path = context.req.path === '/' ? '/index.html' : context.req.path;
    const body = (await files()).get(path);
    if (!body) return context.text('There is no such file.', 404);
    return context.body(Uint8Array.from(body), 200, {
      'content-type': mediaTypes[extname(path)] ?? 'application/octet-stream',
      'cache-control': isImmutable(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    });
  });
  app.onError((error, context) => context.text(`The page was not built: ${error.message}`, 500));

  const listen = getRequestListener(app.fetch);
  const server = createServer((request, response) => void listen(request, response));
  // The next request tells of a failure.
  files().catch(() => undefined);
  return openServer(server, options.port);
}
