import { publicRoute } from '../route.ts';
import { isKnownTo } from '../conversations/etag.ts';
import { z } from 'zod';
import document from '#docs/reference/openapi.json' with { type: 'json' };

/** How long a client may use the document without asking again, seconds; it changes with a deployment. */
const MAX_AGE_SECONDS = 300;

let etag: string | undefined;

/** The OpenAPI document of all routes, which `npm run generate` makes of their declarations. */
export const openApiRoute = publicRoute({
  operation: 'getOpenApi',
  summary: 'This document: every route with its schemas, made from what the server checks by.',
  query: z.object({}),
  response: z.object({ openapi: z.string() }).loose(),
  statuses: [200, 304],
  requestHeaders: { 'If-None-Match': 'The ETag of the copy at hand; 304 when it still holds.' },
  responseHeaders: { ETag: 'Changes with the document.' },
  handle: ({ sha256 }, { header }) => {
    etag ??= `"${sha256(JSON.stringify(document)).slice(0, 32)}"`;
    const headers = { etag, 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` };
    return isKnownTo(header('if-none-match'), etag)
      ? { kind: 'empty', status: 304, headers }
      : { kind: 'json', headers, body: document };
  },
});
