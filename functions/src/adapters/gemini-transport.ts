import { request as sendPlainly, type IncomingMessage } from 'node:http';
import { request as sendSecurely } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Fetch } from '@google/genai';

export interface KeptAnswer {
  /** Sends the SDK's request. A good answer reaches the SDK without its body, any other one as it is. */
  fetch: Fetch;
  /** The body of the good answer, to be read by the caller. Throws Error where there was none. */
  body: () => IncomingMessage;
}

function send(url: string, init: RequestInit): Promise<IncomingMessage> {
  const open = url.startsWith('https:') ? sendSecurely : sendPlainly;
  const { method = 'POST', signal, body } = init;
  const headers = Object.fromEntries(new Headers(init.headers));
  return new Promise((resolve, reject) => {
    const sent = open(url, { method, headers });
    const leave = () => void sent.destroy();
    signal?.addEventListener('abort', leave);
    sent.on('error', reject);
    sent.on('close', () => signal?.removeEventListener('abort', leave));
    sent.on('response', (answer) => {
      // Whoever reads it is told all the same; of one that nobody reads any more, nobody is.
      answer.on('error', () => undefined);
      resolve(answer);
    });
    if (signal?.aborted === true) leave();
    sent.end(typeof body === 'string' ? body : undefined);
  });
}

/**
 * A `fetch` for one call of the SDK that keeps the answer's body for us: the SDK makes the request and tells errors, we
 * read the stream. Node's own client carries it; its time limits are those of the signal alone, and connections are kept.
 */
export function keepAnswer(): KeptAnswer {
  let kept: IncomingMessage | undefined;
  return {
    fetch: async (input, init = {}) => {
      const answer = await send(input instanceof Request ? input.url : String(input), init);
      const { statusCode: status = 502, statusMessage: statusText = '' } = answer;
      if (status >= 200 && status < 300) {
        kept = answer;
        return new Response(null, { status });
      }
      const headers = { 'content-type': answer.headers['content-type'] ?? 'text/plain' };
      return new Response(await text(answer), { status, statusText, headers });
    },
    body: () => {
      if (!kept) throw new Error('Response body is empty');
      return kept;
    },
  };
}
