import { AppError } from '#shared/errors.ts';
import type { Route, RouteDependencies } from '../route.ts';
import { errorResponse } from './error-response.ts';

const ROUTES =
  'Chat is at POST /v1/conversations/{conversationId}/messages (our own), /v1/ai-sdk/chat (AI SDK), /v1/openai/chat/completions (OpenAI) and /callable/chat (Firebase); GET /v1/openapi.json lists all addresses.';

/** What is wrong with the slashes of an address, if anything. */
function slashFault(path: string): string {
  if (path.includes('//')) return ': it has two slashes in a row';
  return path.length > 1 && path.endsWith('/') ? ': it ends in a slash' : '';
}

const NOT_LISTED = 'The origin of the page is not listed: add it to CORS_ORIGINS.';

/** The 405 of an address; `isPreflight`: a browser asked for a page whose origin is not listed. */
export function methodNotAllowed(allow: string, { isPreflight }: { isPreflight: boolean }) {
  const sentence = `This address takes ${allow} only.`;
  return new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'METHOD_NOT_ALLOWED',
    httpStatus: 405,
    message: `method refused; allowed are ${allow}`,
    publicMessage: isPreflight ? `${sentence} ${NOT_LISTED}` : sentence,
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

/** The 404 of an address that is not served. It names where chat is, and nothing that needs a sign-in. */
export const answerNoRoute = (path: string, dependencies: RouteDependencies) =>
  refused(
    path,
    new AppError({
      status: 'NOT_FOUND',
      reason: 'ROUTE_NOT_FOUND',
      message: 'no such route',
      publicMessage: `There is no such address${slashFault(path)}. ${ROUTES}`,
    }),
    dependencies,
  );
