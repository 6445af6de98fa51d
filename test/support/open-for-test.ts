import type { Server } from 'node:net';
import { onTestFinished } from 'vitest';
import { openServer, type OpenServer } from '#infra/local/processes/open-server.ts';

/** Opens a server on a free port, and closes it with the test that opened it. */
export async function openForTest(server: Server): Promise<OpenServer> {
  const opened = await openServer(server);
  onTestFinished(opened.close);
  return opened;
}
