import {
  createServer,
  request as openRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { openServer } from '#infra/local/processes/open-server.ts';

/** One address before several processes, as a load balancer is. */
export interface HttpFront {
  url: string;
  stop(): Promise<void>;
}

interface Exchange {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  body: Buffer;
}

/** `refused`: nobody listens there; nothing was sent, and another process may be asked. */
async function tryProcess(exchange: Exchange, port: number): Promise<'taken' | 'refused'> {
  const { incoming, outgoing, body } = exchange;
  const { promise, resolve } = Promise.withResolvers<'taken' | 'refused'>();
  const { connection: _, ...headers } = incoming.headers;
  const upstream = openRequest({
    host: '127.0.0.1',
    port,
    method: incoming.method,
    path: incoming.url,
    headers: { ...headers, 'content-length': body.length },
    agent: false,
  });
  upstream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNREFUSED') return resolve('refused');
    resolve('taken');
    // A process that dies before its answer is a 503 to the outside, in the midst of it a cut.
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(503).end('the process ended');
  });
  upstream.on('response', (response) => {
    resolve('taken');
    outgoing.writeHead(response.statusCode ?? 502, response.headers);
    outgoing.flushHeaders();
    response.on('error', () => outgoing.destroy());
    response.on('aborted', () => outgoing.destroy());
    response.pipe(outgoing);
  });
  outgoing.once('close', () => upstream.destroy());
  upstream.end(body);
  return promise;
}

/**
 * Starts a reverse proxy on a free port: requests go to `ports` in turn, past those where nobody listens;
 * 503 when nobody listens anywhere.
 */
export async function startHttpFront(ports: readonly number[]): Promise<HttpFront> {
  let next = 0;

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const exchange = { incoming, outgoing, body: await buffer(incoming) };
    const first = next++;
    for (const offset of ports.keys()) {
      const port = ports[(first + offset) % ports.length] ?? 0;
      if ((await tryProcess(exchange, port)) === 'taken') return;
    }
    outgoing.writeHead(503).end('no process is up');
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const { url, close } = await openServer(server);
  return { url, stop: close };
}
