import { isLoopback } from '#functions/local-server.ts';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';

/** This machine as its Android emulator calls it. */
const ANDROID_HOST = '10.0.2.2';

/**
 * Whether a Host header names this machine. A foreign page can have its own name resolve to 127.0.0.1 (DNS
 * rebinding); its browser then takes what is served here for its own, but the header still holds its name.
 */
function isLoopbackHost(host: string | undefined): boolean {
  const hostname = host?.replace(/:\d+$/, '') ?? '';
  return isLoopback(hostname) || hostname === ANDROID_HOST;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The origins that CORS_ORIGINS lists. */
export const listedOrigins = ({ CORS_ORIGINS = '' }: Environment): string[] =>
  CORS_ORIGINS.split(',').flatMap((origin) => origin.trim() || []);

const isLocalOrigin = (origin: string): boolean =>
  URL.canParse(origin) && isLoopbackHost(new URL(origin).host);

/** Why a request may come of a foreign page; undefined: it does not. Programs send no origin. */
function refusalOf(
  { host, origin }: IncomingHttpHeaders,
  origins: readonly string[],
): string | undefined {
  if (!isLoopbackHost(host))
    return `This is for 127.0.0.1 alone, not for the host ${JSON.stringify(host ?? '')}. A proxy or tunnel must send the host localhost.`;
  const isKnown =
    origin === undefined ||
    isLocalOrigin(origin) ||
    origins.includes(origin) ||
    origins.includes('*');
  if (isKnown) return undefined;
  return `Pages of ${JSON.stringify(origin)} have no access. List the origin in CORS_ORIGINS if it is yours and calls chat.`;
}

function refuse(response: ServerResponse, message: string): void {
  const error = { code: 403, status: 'PERMISSION_DENIED', message };
  response.writeHead(403, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ error }));
}

/**
 * Answers 403 to what a foreign page can have sent, before anything else of the server sees it: here tokens are
 * unsigned, so that whoever reaches a server may do everything. To be called before its first request, once its listeners are there.
 */
export function refuseForeign(server: Server, origins: readonly string[] = []): void {
  const listeners = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const refusal = refusalOf(request.headers, origins);
    if (refusal !== undefined) refuse(response, refusal);
    else for (const listener of listeners) listener.call(server, request, response);
  });
}
