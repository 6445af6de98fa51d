import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface WireCounter {
  /** `host:port` to connect to in the place of the server behind it. */
  host: string;
  /** Bytes of both directions so far, whatever they are. */
  bytes(): number;
  close(): Promise<void>;
}

/** Passes connections on to `host:port`, and counts their bytes. */
export async function startWireCounter(behind: string): Promise<WireCounter> {
  const [name, port] = behind.split(':');
  const open = new Set<Socket>();
  let bytes = 0;
  const count = (chunk: Buffer) => void (bytes += chunk.length);
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: Number(port), host: name ?? '127.0.0.1', noDelay: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on('data', count).pipe(to);
      from.on('error', () => to.destroy()).on('close', () => open.delete(from));
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return {
    host: `127.0.0.1:${address.port}`,
    bytes: () => bytes,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
