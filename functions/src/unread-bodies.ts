import { subscribe } from 'node:diagnostics_channel';
import { Server, type IncomingMessage } from 'node:http';

/*
 * The framework's body parsers run before a function: they take up to 1 GB, inflate what is compressed,
 * answer malformed JSON with an HTML page and print it. They skip a request that announces no body, so
 * the announcement is taken off the parsed headers; the body itself stays on the wire, unread, until the
 * function reads it within its own limits.
 */

const prepared = new WeakSet<Server>();

function hideBody({ headers }: IncomingMessage): void {
  delete headers['content-length'];
  delete headers['transfer-encoding'];
}

/** Keeps the parsers of one server away from bodies; to be called before its first request. */
export function leaveBodiesUnread(server: Server): void {
  if (prepared.has(server)) return;
  prepared.add(server);
  server.prependListener('request', hideBody);
}

/** The same for every server of this process, also for those that the framework opens later. */
export function leaveAllBodiesUnread(): void {
  subscribe('http.server.request.start', (message) => {
    // Published before the event `request`, so that the first request is caught too.
    if (typeof message !== 'object' || message === null || !('server' in message)) return;
    if (message.server instanceof Server) leaveBodiesUnread(message.server);
  });
}
