import type { MiddlewareHandler } from 'hono';

/** What a page may read of an answer, beside what it always may: ids, versions, when to come back and the time. */
const EXPOSED_HEADERS = 'x-turn-id, x-request-id, x-should-retry, etag, retry-after, date';
const ALLOWED_METHODS = 'GET, POST, PUT, PATCH, DELETE';

/** How long a browser need not ask again, seconds; Chromium keeps no answer longer. */
const PREFLIGHT_MAX_AGE_SECONDS = 7_200;

/** Names of headers as a preflight lists them. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]{1,2048}$/;

const isAllowed = (origins: readonly string[], origin: string) =>
  origins.includes('*') || origins.includes(origin);

/**
 * Lets pages of other origins call the API. Callers are known by a token in a header and never by a cookie,
 * so no credentials are allowed, and a page can do nothing that its user's token cannot do anyway: any header
 * may be sent. Preflights are answered without a token, because browsers send none with them; a page of an
 * origin that is not listed gets the answers of a server without CORS, which its browser withholds.
 */
export function cors(origins: readonly string[]): MiddlewareHandler {
  return async (context, next) => {
    const origin = context.req.header('origin');
    const isListed = origin !== undefined && isAllowed(origins, origin);
    const isPreflight =
      context.req.method === 'OPTIONS' &&
      context.req.header('access-control-request-method') !== undefined;
    if (isListed && isPreflight) {
      const asked = context.req.header('access-control-request-headers') ?? '';
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-origin': origin,
          'access-control-allow-methods': ALLOWED_METHODS,
          ...(HEADER_NAMES.test(asked) && { 'access-control-allow-headers': asked }),
          'access-control-max-age': String(PREFLIGHT_MAX_AGE_SECONDS),
          vary: 'Origin, Access-Control-Request-Headers',
        },
      });
    }
    await next();
    // Also where it is not listed: a cache must not give one origin the answer to another.
    context.res.headers.append('vary', 'Origin');
    if (isListed) {
      context.res.headers.set('access-control-allow-origin', origin);
      context.res.headers.set('access-control-expose-headers', EXPOSED_HEADERS);
    }
    return undefined;
  };
}
