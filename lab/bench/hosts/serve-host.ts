import { once } from 'node:events';
import { KEEP_ALIVE_MS } from '#functions/lib/guard-server.ts';
import { createServer, type RequestListener } from 'node:http';

/** Serves on a free port of the loopback interface, and prints the URL, for which `startHost` waits. */
export async function serveHost(listener: RequestListener): Promise<void> {
  const server = createServer(listener);
  // As the functions do: a connection that is closed while it is used again would fail the run.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await once(server.listen(0, '127.0.0.1', 2_048), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
}
