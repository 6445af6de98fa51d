import type { RouteDependencies, Route } from '../route.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { callableErrorText } from '../facades/callable/callable-events.ts';
import { openAiErrorReply } from '../facades/openai/error-reply.ts';
import { AppError } from '#shared/lib/errors.ts';
import { errorReply } from '#shared/wire/errors/error-body.ts';
import { ERRORS_PATH } from '#shared/wire/errors/explain-reason.ts';
import { COMMON_HEADERS, EVENT_HEADERS, wantsStream } from './headers.ts';

export const publicDocsUrl = (publicUrl: string): string =>
  `${publicUrl.replace(/\/$/, '')}${ERRORS_PATH}`;

/**
 * The address below which reasons of errors are explained: at PUBLIC_URL, else where the request itself was sent to,
 * which is said to nobody but its sender. A proxy that ends TLS says so in `X-Forwarded-Proto`.
 */
export function requestedDocsUrl(
  { PUBLIC_URL }: Pick<ChatDependencies['config'], 'PUBLIC_URL'>,
  request: { url: string; header: (name: string) => string | undefined },
): string {
  if (PUBLIC_URL !== undefined) return publicDocsUrl(PUBLIC_URL);
  const { protocol, host } = new URL(request.url);
  const isEncrypted =
    protocol === 'https:' || /^https\b/.test(request.header('x-forwarded-proto') ?? '');
  return `${isEncrypted ? 'https' : 'http'}://${host}${ERRORS_PATH}`;
}

/** Who is told of an error. */
interface ErrorReader {
  format?: Route['format'];
  /** Header `accept`. */
  accept: string | undefined;
  /** Where reasons are explained. */
  docsUrl: string | undefined;
}

interface ToldError {
  response: Response;
  /** The code of the error, which the response may not carry. */
  status: number;
}

/**
 * An error in the form that the client of a route reads. A callable that asked for a stream gets it inside
 * one: of any other answer Firebase's web SDK makes a promise that never settles, and the one for Android
 * an exception on a thread of its own.
 */
export function errorResponse(
  thrown: unknown,
  { format, accept, docsUrl }: ErrorReader,
): ToldError {
  const reply = errorReply(thrown, docsUrl);
  const status = reply.httpStatus;
  if (format === 'callable' && wantsStream(accept)) {
    const headers = { ...COMMON_HEADERS, ...EVENT_HEADERS };
    return { status, response: new Response(callableErrorText(thrown, docsUrl), { headers }) };
  }
  const { headers, body } = format === 'openai' ? openAiErrorReply(thrown, docsUrl) : reply;
  return {
    status,
    response: Response.json(body, { status, headers: { ...COMMON_HEADERS, ...headers } }),
  };
}

const ROUTES =
  'Chat is at POST /v1/conversations/{conversationId}/messages (our own), /v1/ai-sdk/chat (AI SDK), /v1/openai/chat/completions (OpenAI) and /callable/chat (Firebase); GET /v1/openapi.json lists all addresses.';

const NOT_LISTED = 'The origin of the page is not listed: add it to CORS_ORIGINS.';

/** The 405 of an address; `isPreflight`: a browser asked for a page whose origin is not listed. */
export function methodNotAllowed(allow: string, { isPreflight }: { isPreflight: boolean }) {
  const sentence = `This address takes ${allow} only.`;
  return new AppError({
    reason: 'METHOD_NOT_ALLOWED',
    publicMessage: isPreflight ? `${sentence} ${NOT_LISTED}` : sentence,
    metadata: { allow },
  });
}

/** Whose clients call an address: they read errors in a form of their own. */
function formatOf(path: string): Route['format'] {
  if (/^\/v1\/(?:openai|responses)(?:\/|$)/.test(path)) return 'openai';
  return path.startsWith('/callable/') ? 'callable' : 'aip';
}

/** An error of the router itself, in the form that the clients of the address read. */
export const refused = (path: string, error: AppError, { docsUrl }: RouteDependencies) => ({
  ...errorResponse(error, { accept: undefined, format: formatOf(path), docsUrl }),
  error,
});

/** The 404 of an address that is not served. It names where chat is, and nothing that needs a sign-in. */
export const answerNoRoute = (path: string, dependencies: RouteDependencies) =>
  refused(
    path,
    new AppError({
      reason: 'ROUTE_NOT_FOUND',
      publicMessage: `There is no such address. ${ROUTES}`,
    }),
    dependencies,
  );
