import type { ServerResponse } from 'node:http';

/**
 * Ends the connection of a response in the middle of its body: what was written still goes out, the last
 * chunk never does, and every client sees a broken transfer. Waits for the headers, without which there is
 * nothing to break off.
 */
export function breakOff(response: ServerResponse): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.headersSent) response.socket?.destroySoon();
  else setImmediate(breakOff, response);
}
