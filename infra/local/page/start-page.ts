import { type OpenServer, openServer } from '#infra/local/processes/open-server.ts';
import { isSource } from '#infra/local/script-path.ts';
import { refuseForeign } from '#infra/local/processes/refuse-foreign.ts';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Headers of every file of the page: scripts and styles of its own alone, nothing written into the document,
 * calls to the named origins, no frames around it.
 */
export function pageHeaders(origins: readonly string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    `connect-src 'self' ${origins.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  };
}

const root = isSource ? fileURLToPath(new URL('../../../web/', import.meta.url)) : '';
const ICON = 'icon.svg';

/** Files of a build, by the path of their address. */
type PageFiles = ReadonlyMap<string, Buffer>;

/** The page as the package has it: built. */
async function readBuiltPage(): Promise<PageFiles> {
  const folder = fileURLToPath(new URL('./page/', import.meta.url));
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  return new Map(
    await Promise.all(
      files.map(async ({ name, parentPath }): Promise<[string, Buffer]> => {
        const file = join(parentPath, name);
        return [`/${relative(folder, file).replaceAll('\\', '/')}`, await readFile(file)];
      }),
    ),
  );
}

/** Builds the page from its sources, in memory (about a second). Throws what the build throws. */
export async function buildPage(): Promise<PageFiles> {
  const { build } = await import('vite');
  const built = await build({
    root,
    configFile: join(root, 'vite.config.ts'),
    build: { write: false },
  });
  if (!('output' in built)) throw new Error('the build of the page gave no files');
  const files = new Map<string, Buffer>();
  for (const file of built.output)
    files.set(`/${file.fileName}`, Buffer.from(file.type === 'chunk' ? file.code : file.source));
  // Files of the public folder are no part of a build that is not written.
  return files.set(`/${ICON}`, await readFile(join(root, 'public', ICON)));
}

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
    built ??= (isSource ? buildPage() : readBuiltPage()).catch((error: unknown) => {
      built = undefined;
      throw error;
    });
    return built;
  };

  const app = new Hono();
  const headers = pageHeaders([options.config.chatUrl]);
  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
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
  // The configuration holds tokens.
  refuseForeign(server);
  // The next request tells of a failure.
  files().catch(() => undefined);
  return openServer(server, options.port);
}
