import {
  createServer as createHttpServer,
  request as openRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { openServer } from '#infra/local/processes/open-server.ts';
import type { Random } from './random.ts';

/** Smaller pieces are acknowledgements and pings of HTTP/2, and no request. */
const SMALLEST_REQUEST_BYTES = 120;

type Mode = 'open' | 'armed' | 'swallowing';

interface Connection {
  client: Socket;
  server: Socket;
  mode: Mode;
  holdMs: number;
}

interface Surroundings {
  /** Whether nothing may come through now. */
  isShut: () => boolean;
  onSwallow: () => void;
}

function join(connection: Connection, { isShut, onSwallow }: Surroundings): void {
  const { client, server } = connection;
  const destroy = (): void => {
    client.destroy();
    server.destroy();
  };
  const forward = (from: Socket, to: Socket, chunk: Buffer): void => {
    if (to.write(chunk)) return;
    from.pause();
    to.once('drain', () => {
      if (!isShut()) from.resume();
    });
  };
  client.on('data', (chunk: Buffer) => {
    forward(client, server, chunk);
    if (connection.mode !== 'armed' || chunk.length < SMALLEST_REQUEST_BYTES) return;
    connection.mode = 'swallowing';
    onSwallow();
    setTimeout(destroy, connection.holdMs);
  });
  server.on('data', (chunk: Buffer) => {
    if (connection.mode !== 'swallowing') forward(server, client, chunk);
  });
  for (const socket of [client, server]) {
    socket.setNoDelay(true).on('error', destroy).on('close', destroy);
    if (isShut()) socket.pause();
  }
}

/** Starts a proxy on a free port of the loopback interface, before `target` (`host:port`). */
export async function startReplyLosingProxy(target: string) {
  const connections = new Set<Connection>();
  let isShut = false;
  let lost = 0;
  const { hostname, port } = new URL(`tcp://${target}`);
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    const connection: Connection = { client, server, mode: 'open', holdMs: 0 };
    connections.add(connection);
    client.on('close', () => connections.delete(connection));
    join(connection, { isShut: () => isShut, onSwallow: () => (lost += 1) });
  });
  const { host, close } = await openServer(proxy);
  return {
    /** `host:port`. */
    host,
    /** Connections whose replies were lost so far. */
    lostCount: () => lost,
    /**
     * The next request on one of the open connections gets no reply: it arrives, what comes back is thrown
     * away, and a while later the connection is reset. What the request did is done.
     */
    loseReply: (random: Random) => {
      const open = [...connections].filter(({ mode }) => mode === 'open');
      if (open.length === 0) return;
      const connection = random.pick(open);
      connection.holdMs = random.integer(30, 800);
      connection.mode = 'armed';
    },
    /** Nothing comes through any more, in neither direction, until the returned function is called. */
    standStill: () => {
      isShut = true;
      for (const { client, server } of connections)
        for (const each of [client, server]) each.pause();
      return () => {
        isShut = false;
        for (const { client, server } of connections)
          for (const each of [client, server]) each.resume();
      };
    },
    stop: async () => {
      const closed = close();
      for (const { client, server } of connections) {
        client.destroy();
        server.destroy();
      }
      await closed;
    },
  };
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
 * Starts a reverse proxy on a free port, as a load balancer is: requests go to `ports` in turn, past those where nobody listens;
 * 503 when nobody listens anywhere.
 */
export async function startHttpFront(ports: readonly number[]) {
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

  const server = createHttpServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const { url, close } = await openServer(server);
  return { url, stop: close };
}
