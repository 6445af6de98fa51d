import { createServer, type IncomingHttpHeaders } from 'node:http';
import { openForTest } from '../open-for-test.ts';

interface WebhookCall {
  headers: IncomingHttpHeaders;
  body: string;
}

export interface WebhookReply {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Never ends the reply. */
  hangs?: boolean;
}

/** A server on a free port that notes each call and replies as it is told; closed with the test. */
export async function startWebhook(reply: WebhookReply = {}) {
  const calls: WebhookCall[] = [];
  const { promise: called, resolve } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      calls.push({ headers: request.headers, body });
      resolve();
      if (reply.hangs) return;
      response.writeHead(reply.status ?? 200, reply.headers).end(reply.body ?? '');
    });
  });
  const { host, url } = await openForTest(server);
  return { host, url: `${url}/hook`, calls, called };
}
