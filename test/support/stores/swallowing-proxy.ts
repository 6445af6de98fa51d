import { connect, createServer, type Socket } from 'node:net';
import { openServer } from '#infra/local/processes/open-server.ts';

/** A proxy before a TCP server, `host:port`, that can lose the bytes of all connections that are open, or reset them. */
export async function startSwallowingProxy(target: string) {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((incoming) => {
    connections += 1;
    const outgoing = connect(Number(port), host);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    incoming.pipe(outgoing);
    outgoing.pipe(incoming);
  });
  const { host: address, close } = await openServer(server);
  return {
    address,
    connections: () => connections,
    /** From now on nothing passes on any open connection, and nobody is told; new ones work. */
    swallow: () => {
      for (const socket of sockets) {
        socket.unpipe();
        socket.on('data', () => undefined);
      }
    },
    /** Resets every open connection, as when a phone loses its network; new ones work. */
    cut: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await close();
    },
  };
}
