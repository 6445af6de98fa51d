import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { openServer } from '#infra/local/processes/open-server.ts';

interface ReceivedPush {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  /** The whole body, as text. */
  body: string;
  /** When it had arrived, in milliseconds of performance.now(). */
  atMs: number;
}

export interface PushEndpoint {
  url: string;
  received: readonly ReceivedPush[];
  /** The highest number of pushes that waited for their answer at one time. */
  mostInFlight(): number;
  /** Waits until `count` pushes have arrived. Throws Error after `timeoutMs`. */
  untilReceived(count: number, timeoutMs: number): Promise<void>;
  /** Cuts every connection, also those that wait for an answer. */
  cut(): void;
  close(): Promise<void>;
}

/** A local HTTP server that records every push and answers with what `answer` gives: a status, or null for no answer at all. */
export async function openPushEndpoint(
  answer: (push: ReceivedPush, index: number) => Promise<number | null> | number | null,
): Promise<PushEndpoint> {
  const received: ReceivedPush[] = [];
  const unanswered = new Set<ServerResponse>();
  let most = 0;
  const server = createServer((request, response) => {
    unanswered.add(response);
    most = Math.max(most, unanswered.size);
    response.once('close', () => unanswered.delete(response));
    void (async () => {
      const bytes = await buffer(request).catch(() => undefined);
      // Cut before it had arrived: that was no push.
      if (!bytes) return;
      const body = bytes.toString();
      const { method, headers } = request;
      const push = { method, headers, body, atMs: performance.now() };
      const index = received.push(push) - 1;
      const status = await answer(push, index);
      if (status !== null) response.writeHead(status).end();
    })();
  });
  const { url, close } = await openServer(server);

  return {
    url: `${url}/push`,
    received,
    mostInFlight: () => most,
    async untilReceived(count, timeoutMs) {
      const giveUpAt = performance.now() + timeoutMs;
      while (received.length < count) {
        if (performance.now() > giveUpAt) {
          throw new Error(`${received.length} of ${count} pushes arrived in ${timeoutMs} ms`);
        }
        await wait(10);
      }
    },
    cut() {
      server.closeAllConnections();
    },
    close,
  };
}
