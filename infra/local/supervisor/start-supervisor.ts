import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { chooseFreePort } from '../processes/free-port.ts';
import { openServer } from '../processes/open-server.ts';
import type { Stack } from '../stack/stack-children.ts';
import type { StackLog } from '../stack/stack-event.ts';
import { startCuttableLine } from './cuttable-line.ts';
import { createModelControl } from './model-control.ts';
import { createPartKills } from './part-kills.ts';
import { redeliver } from './redeliver.ts';
import { createSupervisorApp } from './supervisor-app.ts';

export interface Supervisor {
  url: string;
  /** Of this start; every request carries it. */
  token: string;
  /** Where chat is reached over a line that can be cut. */
  chatUrl: string;
  stop(): Promise<void>;
}

interface SupervisorOptions {
  stack: Pick<Stack, 'chatUrl' | 'compactionUrl' | 'fakeGeminiUrl' | 'processIds' | 'restart'>;
  /** Wanted ports; one that is taken is replaced by the next free one. Default: any free ones. */
  ports?: { supervisor: number; line: number };
  /** Origins under which the page may be open. */
  pageOrigins: readonly string[];
  log: StackLog;
}

const TOKEN_BYTES = 32;

/** Starts the supervisor of a stack, on the loopback interface alone, under a new token. */
export async function startSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { stack, pageOrigins, log } = options;
  const reserved = new Set<number>();
  const port = await chooseFreePort(options.ports?.supervisor ?? 0, reserved);
  const linePort = await chooseFreePort(options.ports?.line ?? 0, reserved);
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const line = await startCuttableLine({
    port: linePort,
    targetPort: Number(new URL(stack.chatUrl).port),
  });
  const app = createSupervisorApp({
    admission: { token, port, pageOrigins },
    line,
    kills: createPartKills({
      stack,
      onFailure: (part, error) =>
        log({ kind: 'failed', part, problem: error instanceof Error ? error.message : 'unknown' }),
    }),
    model: stack.fakeGeminiUrl === undefined ? undefined : createModelControl(stack.fakeGeminiUrl),
    redeliver: (redelivery) => redeliver(stack.compactionUrl, redelivery),
  });
  const listen = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer((request, response) => void listen(request, response));
  const { url, close } = await openServer(server, port);
  return {
    url,
    token,
    chatUrl: line.url,
    stop: async () => {
      await Promise.all([close(), line.close()]);
    },
  };
}
