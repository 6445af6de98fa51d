import { AppError } from '#shared/errors.ts';
import type { Route, RouteDependencies } from '../route.ts';
import { servedRoutes } from '../chat-routes.ts';
import { errorResponse } from './error-response.ts';
import { nearestRoute } from './nearest-route.ts';

type Nearest = ReturnType<typeof nearestRoute>;

const ALL_ROUTES =
  'GET /v1/openapi.json lists all of them. Base addresses of clients: /v1 (our own), /v1/openai (OpenAI), /v1/ai-sdk/chat (AI SDK), /callable/chat (Firebase).';

const CHAT_ROUTES =
  'Chat is at POST /v1/conversations/{conversationId}/messages (our own), /v1/ai-sdk/chat (AI SDK), /v1/openai/chat/completions (OpenAI) and /callable/chat (Firebase).';

/** Guesses of a chat's address that fit every protocol, `/api/chat` of `useChat` among them. */
const CHAT_GUESS = /^(\/api)?(\/v\d)?\/chat\/?$/;

/** What is wrong with the slashes of an address, if anything. */
function slashFault(path: string): string {
  if (path.includes('//')) return ': it has two slashes in a row';
  return path.length > 1 && path.endsWith('/') ? ': it ends in a slash' : '';
}

function advice(path: string, nearest: Nearest): string {
  if (CHAT_GUESS.test(path)) return `There is no such address. ${CHAT_ROUTES}`;
  if (nearest === undefined) return `There is no such address${slashFault(path)}. ${ALL_ROUTES}`;
  const meant = `${nearest.methods.join(' or ')} ${nearest.path}`;
  return `There is no such address${slashFault(path)}. Did you mean ${meant}?`;
}

const routeNotFound = (path: string, nearest: Nearest) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'ROUTE_NOT_FOUND',
    message: 'no such route',
    publicMessage: advice(path, nearest),
    metadata: nearest ? { nearest: nearest.path } : {},
  });

/** Calls that are meant where a method is refused, by the method and the address. */
const meantCalls: Readonly<Record<string, string>> = {
  'POST /v1/conversations/{conversationId}':
    'Messages are sent with POST /v1/conversations/{conversationId}/messages.',
  'GET /v1/conversations/{conversationId}/messages/{messageId}':
    'Messages are read with GET /v1/conversations/{conversationId}/messages.',
  'POST /v1/conversations/{conversationId}/pins':
    'A pin is written with PUT /v1/conversations/{conversationId}/pins/{pinId}.',
};

const NOT_LISTED = 'The origin of the page is not listed: add it to CORS_ORIGINS.';

/** The 405 of an address; `isPreflight`: a browser asked for a page whose origin is not listed. */
export function methodNotAllowed(
  allow: string,
  { method, path, isPreflight }: { method: string; path: string; isPreflight: boolean },
) {
  const meant = isPreflight ? NOT_LISTED : meantCalls[`${method} ${path}`];
  const sentence = `This address takes ${allow} only.`;
  return new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'METHOD_NOT_ALLOWED',
    httpStatus: 405,
    message: `method refused; allowed are ${allow}`,
    publicMessage: meant === undefined ? sentence : `${sentence} ${meant}`,
    metadata: { allow },
  });
}

/** Whose clients call an address: they read errors in a form of their own. */
function formatOf(path: string): Route['format'] {
  if (path.startsWith('/v1/openai/')) return 'openai';
  return path.startsWith('/callable/') ? 'callable' : 'aip';
}

/** An error of the router itself, in the form that the clients of the address read. */
export const refused = (path: string, error: AppError, { docsUrl }: RouteDependencies) => ({
  ...errorResponse(error, { accept: undefined, format: formatOf(path), docsUrl }),
  error,
});

/** The 404 of an address that is not served. It names the one that was meant, and nothing that needs a sign-in. */
export function answerNoRoute(
  { method, path }: { method: string; path: string },
  dependencies: RouteDependencies,
) {
  const nearest = nearestRoute({ method, path }, servedRoutes);
  const error = routeNotFound(path, nearest);
  return refused(nearest?.path ?? path, error, dependencies);
}
