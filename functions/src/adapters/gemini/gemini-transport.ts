import {
  Agent as HttpAgent,
  globalAgent as globalHttpAgent,
  request as sendPlainly,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import {
  Agent as HttpsAgent,
  type AgentOptions,
  globalAgent as globalHttpsAgent,
  request as sendSecurely,
} from 'node:https';
import type { Fetch } from '@google/genai';
import { once } from '#shared/lib/once.ts';
import { AnswerTooLarge } from '../model-errors.ts';

/** A whole answer, or a count. The longest answer of a model, 65,536 tokens, is below 3 MB with every character escaped. */
export const WHOLE_ANSWER_MAX_BYTES = 4 * 1024 * 1024;

/** What is read of an error: Google's are a few KB, a proxy's page may be anything. */
export const ERROR_BODY_MAX_BYTES = 64 * 1024;

/**
 * How long a connection is kept for the next message, ms. Node keeps one for 5 s, and people read and type for longer:
 * each message would open its own.
 */
const CONNECTION_IDLE_MS = 60_000;

/** The options of Node's own agent, so also its proxy settings, with a longer wait. */
const keepingOptions = (agent: HttpAgent & { options?: AgentOptions }): AgentOptions => ({
  ...agent.options,
  timeout: CONNECTION_IDLE_MS,
});
const agents = once(() => ({
  http: new HttpAgent(keepingOptions(globalHttpAgent)),
  https: new HttpsAgent(keepingOptions(globalHttpsAgent)),
}));

const open = (url: string, options: RequestOptions) =>
  url.startsWith('https:')
    ? sendSecurely(url, { ...options, agent: agents().https })
    : sendPlainly(url, { ...options, agent: agents().http });

/** Whether a request met a connection that the server had closed, and nothing of an answer has come. */
const isStale = (sent: ClientRequest, error: NodeJS.ErrnoException) =>
  sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');

/**
 * Sends a request; one that meets a closed connection goes out again over the next one, at once: after a pause of the
 * instance all that are kept may be closed. Rejects with what broke any other.
 */
function send(input: Parameters<Fetch>[0], init: RequestInit): Promise<IncomingMessage> {
  const url = input instanceof Request ? input.url : String(input);
  const { method = 'POST', signal, body } = init;
  const headers = Object.fromEntries(new Headers(init.headers));
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sendOnce = () => {
    const sent = open(url, { method, headers });
    const leave = () => void sent.destroy();
    signal?.addEventListener('abort', leave);
    let isAnswered = false;
    sent.on('error', (error) => {
      if (!isAnswered && signal?.aborted !== true && isStale(sent, error)) sendOnce();
      else reject(error);
    });
    sent.on('close', () => signal?.removeEventListener('abort', leave));
    sent.on('response', (answer) => {
      isAnswered = true;
      // Whoever reads it is told all the same; of one that nobody reads any more, nobody is.
      answer.on('error', () => undefined);
      resolve(answer);
    });
    if (signal?.aborted === true) leave();
    sent.end(typeof body === 'string' ? body : undefined);
  };
  sendOnce();
  return promise;
}

/** The first bytes of a body. What is behind them is left on the wire, and the connection closed. */
async function beginningOf(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

/** An error for the SDK, which makes an ApiError of it. What was cut off is no JSON any more. */
async function errorOf(answer: IncomingMessage): Promise<Response> {
  const { statusCode: status = 502, statusMessage: statusText = '' } = answer;
  const body = await beginningOf(answer, ERROR_BODY_MAX_BYTES);
  const isWhole = body.byteLength < ERROR_BODY_MAX_BYTES;
  const type = (isWhole && answer.headers['content-type']) || 'text/plain';
  return new Response(body, { status, statusText, headers: { 'content-type': type } });
}

type Body = ConstructorParameters<typeof Response>[0];

/** Sends, and gives the SDK what `read` makes of the body of a good answer. */
const fetchWith =
  (read: (answer: IncomingMessage) => Body | Promise<Body>): Fetch =>
  async (input, init = {}) => {
    const answer = await send(input, init);
    const { statusCode: status = 502 } = answer;
    if (status < 200 || status >= 300) return errorOf(answer);
    return new Response(await read(answer), { status });
  };

/** A `fetch` for answers that are read as a whole. Throws AnswerTooLarge. */
export const fetchWhole: Fetch = fetchWith(async (answer) => {
  const bytes = await beginningOf(answer, WHOLE_ANSWER_MAX_BYTES + 1);
  if (bytes.byteLength > WHOLE_ANSWER_MAX_BYTES)
    throw new AnswerTooLarge(`the answer has more than ${WHOLE_ANSWER_MAX_BYTES} bytes`);
  return bytes;
});

interface KeptAnswer {
  /** Sends the SDK's request. A good answer reaches the SDK without its body. */
  fetch: Fetch;
  /** The body of the good answer, to be read by the caller. Throws Error where there was none. */
  body: () => IncomingMessage;
}

/**
 * A `fetch` for one call of the SDK that keeps the answer's body for us: the SDK makes the request and tells errors, we
 * read the stream. Node's own client carries it; its time limits are those of the signal alone, and connections are kept.
 */
export function keepAnswer(): KeptAnswer {
  let kept: IncomingMessage | undefined;
  return {
    fetch: fetchWith((answer) => {
      kept = answer;
      return null;
    }),
    body: () => {
      if (!kept) throw new Error('Response body is empty');
      return kept;
    },
  };
}
