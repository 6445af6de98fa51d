import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';

const highestPort = 65_535;

async function portIfFree(port: number): Promise<number | undefined> {
  try {
    const server = await openServer(createServer(), port);
    await server.close();
    return server.port;
  } catch (error) {
    const isTaken =
      error instanceof Error &&
      'code' in error &&
      (error.code === 'EADDRINUSE' || error.code === 'EACCES');
    if (isTaken) return undefined;
    throw error;
  }
}

/**
 * The wanted port if nobody listens on it, else the next free one above it; 0 asks for any. Ports in
 * `reserved` are passed over, and the result is added to it. Another process may still be faster
 * between this look and the listen: the part then fails to start and says so.
 */
export async function chooseFreePort(wantedPort: number, reserved: Set<number>): Promise<number> {
  for (let port = wantedPort; port <= highestPort && port < wantedPort + 100; port += 1) {
    const candidate = wantedPort === 0 ? 0 : port;
    if (reserved.has(candidate)) continue;
    const free = await portIfFree(candidate);
    if (free === undefined || reserved.has(free)) continue;
    reserved.add(free);
    return free;
  }
  throw new Error(`no free port from ${wantedPort} on: 100 were tried`);
}

/** The status that a GET of the address is answered with, or undefined where it is not, within two seconds. */
export async function answerStatus(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}

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
