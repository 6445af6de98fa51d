import { subscribe } from 'node:diagnostics_channel';
import { Server, type IncomingMessage } from 'node:http';

/*
 * The framework's Express runs before a function. Its body parsers take up to 1 GB, inflate what is
 * compressed, answer malformed JSON with an HTML page and print it; its router answers an address that
 * cannot be decoded in the same way. So requests are changed before it sees them:
 * - The parsers skip a request that announces no body. The announcement is taken off the parsed headers;
 *   the body stays on the wire, unread, until the function reads it within its own limits.
 * - An address that cannot be decoded becomes one that does not exist.
 */

/**
 * How long an idle connection is kept, ms. Google's front end keeps one to an instance for up to 620 s, and Node closes it
 * after 5 s: a request that the front end sends at that moment is reset, and one that is no GET is not sent again. So the
 * front end must be the first to close. `headersTimeout` stays at Node's 60 s: it ends slow headers, and does not
 * count the time between two requests of a connection.
 */
export const KEEP_ALIVE_MS = 650_000;

const UNDECODABLE = '/undecodable';

const guarded = new WeakSet<Server>();

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url.split('?', 1)[0] ?? '');
    return true;
  } catch {
    return false;
  }
}

function prepare(request: IncomingMessage): void {
  delete request.headers['content-length'];
  delete request.headers['transfer-encoding'];
  if (!isDecodable(request.url ?? '')) request.url = UNDECODABLE;
}

/** Guards one server; to be called before its first request. What is no server is left alone. */
export function guardServer(server: unknown): void {
  if (!(server instanceof Server) || guarded.has(server)) return;
  guarded.add(server);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.prependListener('request', prepare);
}

/** The same for every server of this process, also for those that the framework opens later. */
export function guardEveryServer(): void {
  subscribe('http.server.request.start', (message) => {
    // Published before the event `request`, so that the first request is caught too.
    if (typeof message === 'object' && message !== null && 'server' in message)
      guardServer(message.server);
  });
}
