import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';

/** What stands between a client and chat, and does to answers. */
export type ProxyFault =
  /** Hands an answer over when it is whole. */
  | { kind: 'buffers' }
  /** Answers by itself, as Google's front end does. */
  | { kind: 'answers'; status: number; html: string }
  /** Cuts streams after so many bytes. */
  | { kind: 'cuts'; afterBytes: number };

async function pass(
  answer: IncomingMessage,
  response: ServerResponse,
  fault: Exclude<ProxyFault, { kind: 'answers' }>,
): Promise<void> {
  const { 'content-length': _, 'transfer-encoding': __, ...headers } = answer.headers;
  response.writeHead(answer.statusCode ?? 502, headers);
  const isStream = answer.headers['content-type']?.includes('text/event-stream') ?? false;
  if (fault.kind === 'cuts' && isStream) {
    let passedBytes = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      response.write(chunk);
      passedBytes += chunk.length;
      if (passedBytes > fault.afterBytes) break;
    }
    response.end();
    return;
  }
  response.end(await buffer(answer));
}

/** A proxy before chat; a request that is not touched by the fault goes through as it is. */
export function faultyProxy(chatUrl: string, fault: ProxyFault): Server {
  return createServer((incoming, response) => {
    if (fault.kind === 'answers') {
      response.writeHead(fault.status, { 'content-type': 'text/html' }).end(fault.html);
      return;
    }
    const { url: path = '/', method, headers } = incoming;
    const outgoing = request(`${chatUrl}${path}`, { method, headers }, (answer) => {
      pass(answer, response, fault).catch(() => response.destroy());
    });
    outgoing.once('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
}
