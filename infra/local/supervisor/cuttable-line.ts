import { connect, createServer, type Socket } from 'node:net';
import { openServer } from '../processes/open-server.ts';

export interface CuttableLine {
  url: string;
  /** Connections that are open now. */
  openCount(): number;
  /** Resets every open connection, in both directions, and says how many; new ones are taken at once. */
  cut(): number;
  close(): Promise<void>;
}

/** More connections than a browser opens to one host, with its other tabs. */
const MAX_CONNECTIONS = 100;

/**
 * A line to a server of this machine, byte for byte, that can be cut: the client sees its connection reset, as when
 * a phone loses its network, the server that the client is gone. A page that aborts its own request would know
 * that it did, and a server that ends a response would end it in good order; neither is what a client must survive.
 */
export async function startCuttableLine(options: {
  port: number;
  targetPort: number;
}): Promise<CuttableLine> {
  const { port, targetPort } = options;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1');
    open.add(client);
    // Deltas are small: none waits for the next.
    client.setNoDelay(true);
    target.setNoDelay(true);
    client.pipe(target).pipe(client);
    client.once('close', () => {
      open.delete(client);
      target.destroy();
    });
    target.once('close', () => client.destroy());
    // A reset or a server that is being started again is what this line is for; `close` follows.
    client.on('error', () => {});
    target.on('error', () => client.resetAndDestroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  const opened = await openServer(server, port);

  const cut = (): number => {
    const sockets = [...open];
    for (const socket of sockets) socket.resetAndDestroy();
    return sockets.length;
  };
  return {
    url: opened.url,
    openCount: () => open.size,
    cut,
    close: () => {
      const closed = opened.close();
      cut();
      return closed;
    },
  };
}
