import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
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

/** The first of the ports, from the `first` on, that somebody listens on; undefined: nobody does. */
async function connectToOne(
  { hostname, ports }: { hostname: string; ports: readonly number[] },
  first: number,
): Promise<Socket | undefined> {
  for (const offset of ports.keys()) {
    const server = connect(ports[(first + offset) % ports.length] ?? 0, hostname);
    const isOpen = await once(server, 'connect').then(
      () => true,
      () => false,
    );
    if (isOpen) return server;
  }
  return undefined;
}

/**
 * Starts a proxy on a free port of the loopback interface, before one server or, as a load balancer is, before several:
 * connections go to them in turn, past those where nobody listens, and are reset where nobody listens anywhere.
 */
export async function startProxy(hostname: string, ports: readonly number[]) {
  const connections = new Set<Connection>();
  let isShut = false;
  let lost = 0;
  let next = 0;
  const proxy = createServer({ pauseOnConnect: true }, (client) => {
    client.on('error', () => client.destroy());
    void connectToOne({ hostname, ports }, next++).then((server) => {
      if (server === undefined || client.destroyed) {
        server?.destroy();
        client.resetAndDestroy();
        return;
      }
      const connection: Connection = { client, server, mode: 'open', holdMs: 0 };
      connections.add(connection);
      client.on('close', () => connections.delete(connection));
      join(connection, { isShut: () => isShut, onSwallow: () => (lost += 1) });
      if (!isShut) client.resume();
    });
  });
  const { host, url, close } = await openServer(proxy);
  return {
    /** `host:port`. */
    host,
    url,
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
