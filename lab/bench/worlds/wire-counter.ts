import { connect, createServer, type Socket } from 'node:net';
import { openServer } from '#infra/local/processes/open-server.ts';

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
  const { host, close } = await openServer(server);
  return {
    host,
    bytes: () => bytes,
    close: () => {
      const closed = close();
      for (const socket of open) socket.destroy();
      return closed;
    },
  };
}
