import { registerFunctions } from '#functions/bootstrap/register.ts';
import { createPushHandler } from '#functions/worker/push/handle-push.ts';
import { serveFunctions } from '#infra/local/stack/function-host.ts';
import type { CompactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { openForTest } from '../open-for-test.ts';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

/** The body with which Pub/Sub delivers `data`; a text is delivered as it is. */
export const pushOf = (data: unknown) =>
  JSON.stringify({
    message: {
      data: Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)).toString('base64'),
      messageId: '77',
      attributes: {},
    },
    subscription: 'projects/p/subscriptions/s',
  });

/** The event that asks for a compaction. */
export const requestFor = (conversationId: string) => ({
  schemaVersion: 1,
  conversationId,
  requestId: 'request-1',
});

/** The handler behind a real server that leaves the body on the wire, as the guarded framework does. */
export async function serve(bench: CompactionBench): Promise<string> {
  const handle = createPushHandler(bench);
  const server = createServer((request, response) => void handle(request, response));
  return `${(await openForTest(server)).url}/`;
}

export const post = (url: string, body: string) => fetch(url, { method: 'POST', body });

/** The handler behind the framework’s own server, as the function host opens it. */
export async function serveInFramework(bench: CompactionBench): Promise<string> {
  registerFunctions({
    clock: bench.clock,
    drainMs: 0,
    chat: () => Promise.reject(new Error('not here')),
    compaction: () => Promise.resolve(bench),
  });
  const [server] = await serveFunctions([{ target: 'compaction', port: 0 }]);
  onTestFinished(async () => server?.close());
  return `${server?.url}/`;
}
