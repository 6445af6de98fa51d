import type { AccessTokens } from '#shared/ports/ports.ts';

export interface GoogleRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  json?: object;
  signal?: AbortSignal | undefined;
}

function send(request: GoogleRequest, timeoutMs: number, accessToken: string): Promise<Response> {
  const { method, url, json, signal } = request;
  const timeout = AbortSignal.timeout(timeoutMs);
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

/** Sends a request to an API of Google: once more, with another access token, where the first is not taken. */
export async function googleFetch(
  tokens: AccessTokens,
  request: GoogleRequest,
  timeoutMs: number,
): Promise<Response> {
  const accessToken = await tokens.get();
  const response = await send(request, timeoutMs, accessToken);
  if (response.status !== 401) return response;
  await response.body?.cancel();
  return send(request, timeoutMs, await tokens.renew(accessToken));
}
