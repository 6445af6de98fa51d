import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { openServer } from '#infra/local/processes/open-server.ts';

/** Passes a request on to the server at `url`; `take` gets its answer. */
function passOn(
  url: string,
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  take: (answer: IncomingMessage) => void = (answer) => void answer.pipe(outgoing),
): void {
  const { method = 'GET', headers } = incoming;
  const passed = request(`${url}${incoming.url}`, { method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    take(answer);
  });
  passed.on('error', () => outgoing.destroy());
  incoming.pipe(passed);
}

/**
 * A proxy that loses the first answer after its first piece, or of one that is cut half of it: it ends in good order, is
 * cut, or nothing more comes. What follows is passed on.
 */
export async function startLosingProxy(url: string, then: 'ends' | 'falls silent' | 'is cut') {
  let isFirst = true;
  const server = createServer((incoming, outgoing) => {
    if (!isFirst) return passOn(url, { incoming, outgoing });
    isFirst = false;
    passOn(url, { incoming, outgoing }, (answer) => {
      answer.once('data', (piece: Buffer) => {
        const isCut = then === 'is cut';
        outgoing.write(isCut ? piece.subarray(0, piece.length / 2) : piece, () => {
          if (isCut) outgoing.destroy();
        });
        if (then === 'ends') outgoing.end();
        answer.destroy();
      });
    });
  });
  return openServer(server);
}

/** A proxy that passes everything on and counts the pieces of answers, heartbeats included. */
export async function startCountingProxy(url: string) {
  let pieces = 0;
  const server = createServer((incoming, outgoing) =>
    passOn(url, { incoming, outgoing }, (answer) => {
      answer.on('data', () => void (pieces += 1));
      answer.pipe(outgoing);
    }),
  );
  return { ...(await openServer(server)), countPieces: () => pieces };
}

/** A proxy before a server that answers the first `failures` requests with a page of its own, 502, then passes them on. */
export async function startBrokenProxy(url: string, failures: number) {
  let left = failures;
  const server = createServer((incoming, outgoing) => {
    if (left-- > 0) {
      outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
      return;
    }
    passOn(url, { incoming, outgoing });
  });
  return openServer(server);
}
