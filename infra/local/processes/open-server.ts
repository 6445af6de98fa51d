import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';

export interface OpenServer {
  port: number;
  /** `127.0.0.1:port`. */
  host: string;
  /** `http://127.0.0.1:port`, without a slash at the end. */
  url: string;
  /** Cuts the connections of an HTTP server, also those in use, and waits until it is closed. */
  close: () => Promise<void>;
}

/** Opens a server on a port of the loopback interface; 0: any free one. Who opened it closes it. */
export async function openServer(server: Server, wantedPort = 0): Promise<OpenServer> {
  await once(server.listen(wantedPort, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : wantedPort;
  const host = `127.0.0.1:${port}`;
  return {
    port,
    host,
    url: `http://${host}`,
    close: async () => {
      if (server instanceof HttpServer) server.closeAllConnections();
      // That of HTTP/2 returns nothing.
      server.close();
      await once(server, 'close');
    },
  };
}
