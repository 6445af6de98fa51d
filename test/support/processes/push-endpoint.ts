import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { openServer } from '#infra/local/processes/open-server.ts';
import { eventually } from '#test/support/eventually.ts';

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
  const server = createServer((request, response) => {
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
    async untilReceived(count, timeoutMs) {
      const haveArrived = () => Promise.resolve(received.length >= count || undefined);
      await eventually(`${count} pushes`, haveArrived, timeoutMs);
    },
    cut() {
      server.closeAllConnections();
    },
    close,
  };
}
