import { type Route, publicRoute } from '../route.ts';
import { once } from '#shared/lib/once.ts';
import { isKnownTo } from '../conversations/etag.ts';
import { buildOpenApiDocument } from '../openapi/build-document.ts';
import { z } from 'zod';

/** How long a client may use the document without asking again, seconds; it changes with a deployment. */
const MAX_AGE_SECONDS = 300;

/** The OpenAPI document of all routes, which are loaded for it, built when it is first asked for. */
export function openApiRoutes(loadRoutes: () => Promise<readonly Route[]>) {
  const buildOnce = once(async () => buildOpenApiDocument(await loadRoutes()));
  let etag: string | undefined;
  const openApiRoute = publicRoute({
    operation: 'getOpenApi',
    summary: 'This document: every route with its schemas, made from what the server checks by.',
    query: z.object({}),
    response: z.object({ openapi: z.string() }).loose(),
    statuses: [200, 304],
    requestHeaders: { 'If-None-Match': 'The ETag of the copy at hand; 304 when it still holds.' },
    responseHeaders: { ETag: 'Changes with the document.' },
    handle: async ({ sha256 }, { header }) => {
      const document = await buildOnce();
      etag ??= `"${sha256(JSON.stringify(document)).slice(0, 32)}"`;
      const headers = { etag, 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` };
      return isKnownTo(header('if-none-match'), etag)
        ? { kind: 'empty', status: 304, headers }
        : { kind: 'json', headers, body: document };
    },
  });
  return { openApiRoute };
}
