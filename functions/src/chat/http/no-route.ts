import { AppError } from '#shared/errors.ts';
import type { Route, RouteDependencies } from '../route.ts';
import { servedRoutes } from '../chat-routes.ts';
import { errorResponse } from './error-response.ts';
import { nearestRoute } from './nearest-route.ts';

type Nearest = ReturnType<typeof nearestRoute>;

const ALL_ROUTES =
  'GET /v1/openapi.json lists all of them; the SDKs of Firebase call /callable/chat.';

function advice(path: string, nearest: Nearest): string {
  if (nearest === undefined) return `There is no such address. ${ALL_ROUTES}`;
  const meant = `${nearest.methods.join(' or ')} ${nearest.path}`;
  return path.endsWith('/')
    ? `There is no such address: it ends in a slash. Did you mean ${meant}?`
    : `There is no such address. Did you mean ${meant}?`;
}

const routeNotFound = (path: string, nearest: Nearest) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'ROUTE_NOT_FOUND',
    message: 'no such route',
    publicMessage: advice(path, nearest),
    metadata: nearest ? { nearest: nearest.path } : {},
  });

export const methodNotAllowed = (allow: string) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'METHOD_NOT_ALLOWED',
    httpStatus: 405,
    message: `method refused; allowed are ${allow}`,
    publicMessage: `This address takes ${allow} only.`,
    metadata: { allow },
  });

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
