import { AppError } from '#shared/errors.ts';
import type { AccessTokens } from '#shared/ports/ports.ts';

/** Why a file could not be read or stored. */
export const filesUnavailable = (
  problem: string,
  options: { isPermanent?: boolean; cause?: unknown } = {},
) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'FILES_UNAVAILABLE',
    message: `the bucket of uploads ${problem}`,
    publicMessage: 'Files cannot be read or stored right now. Try again in a moment.',
    retryable: options.isPermanent !== true,
    retryAfterMs: 1_000,
    cause: options.cause,
  });

interface GoogleRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  json?: object;
  signal?: AbortSignal | undefined;
}

/** A file of 20 MB within Google's network takes a second; an upload of a phone does not pass here. */
const TIMEOUT_MS = 30_000;
/** Failures that a second try usually ends. */
const TRIES = 2;

function send(request: GoogleRequest, accessToken: string): Promise<Response> {
  const { method, url, json, signal } = request;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  return fetch(url, {
    method,
    headers: {
      ...request.headers,
      authorization: `Bearer ${accessToken}`,
      ...(json && { 'content-type': 'application/json' }),
    },
    ...(json && { body: JSON.stringify(json) }),
    redirect: 'error',
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
}

const isTransient = (status: number) => status === 408 || status === 429 || status >= 500;

/** Another access token where the first is not taken. */
async function sendAuthorized(tokens: AccessTokens, request: GoogleRequest): Promise<Response> {
  const accessToken = await tokens.get();
  const response = await send(request, accessToken);
  if (response.status !== 401) return response;
  await response.body?.cancel();
  return send(request, await tokens.renew(accessToken));
}

/**
 * Sends a request to an API of Google, at most twice; undefined for a 404. Throws FILES_UNAVAILABLE for what is no
 * success, and the abortion of the request's signal.
 */
export async function googleRequest(
  tokens: AccessTokens,
  request: GoogleRequest,
): Promise<Response | undefined> {
  // Not `retry`: a failure is a status as often as an error, and only the last one is made an error of.
  for (let tries = 1; ; tries++) {
    let response: Response;
    try {
      response = await sendAuthorized(tokens, request);
    } catch (error) {
      if (request.signal?.aborted) throw error;
      if (tries < TRIES) continue;
      throw filesUnavailable('could not be reached', { cause: error });
    }
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status === 404) return undefined;
    const isPermanent = !isTransient(response.status);
    if (isPermanent || tries === TRIES)
      throw filesUnavailable(`answered ${response.status}`, { isPermanent });
  }
}
