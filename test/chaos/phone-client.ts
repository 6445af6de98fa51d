import { z } from 'zod';
import { contentText, partSchema } from '../../shared/conversation/content.ts';
import { seqOfId } from '../../shared/conversation/paths.ts';
import { readAnswerStream } from '../eval/answer-stream.ts';
import { ChatRequestError, requestErrorOf } from '../eval/chat-request-error.ts';

/** How one try of a send ended, as far as the phone can see. */
export type SendResult =
  | { kind: 'answered'; seq: number; text: string }
  /** Refused for good; the same id again would be told the same. */
  | { kind: 'failed'; reason: string }
  /** Not known yet how it stands: to be sent again. */
  | { kind: 'again'; why: string; retryAfterMs?: number }
  /** A reply that the interface does not have. */
  | { kind: 'odd'; what: string };

export interface OutgoingMessage {
  conversationId: string;
  messageId: string;
  text: string;
  /** An edit: the message of the user that this one takes the place of. */
  replaces?: string;
}

const pathOfSend = ({ conversationId, replaces }: OutgoingMessage): string => {
  const messages = `/v1/conversations/${conversationId}/messages`;
  return replaces === undefined ? messages : `${messages}/${replaces}:edit`;
};

const answerBodySchema = z.looseObject({
  turn: z.looseObject({ seq: z.number(), state: z.string() }),
  message: z.looseObject({ parts: z.array(partSchema) }),
});

const REQUEST_TIMEOUT_MS = 20_000;

/** Refusals that pass by themselves, beside 429 and all from 500 on. */
const passing = new Set(['CONTEXT_WINDOW_WILL_OVERFLOW']);

function resultOfError(error: unknown): SendResult {
  if (!(error instanceof ChatRequestError))
    return { kind: 'again', why: error instanceof Error ? error.name : 'unknown' };
  const { status, reason, retryAfterMs } = error;
  if (reason === 'STREAM_BROKEN') return { kind: 'again', why: 'broken stream' };
  if (reason === 'IDEMPOTENCY_KEY_REUSED' || status === 401 || status === 404)
    return { kind: 'odd', what: `${status} ${reason}` };
  if (status === 409 || status === 429 || status >= 500 || passing.has(reason))
    return { kind: 'again', why: reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return { kind: 'failed', reason };
}

/** The HTTP interface as one phone uses it: one method per call, no retries. */
export class PhoneClient {
  readonly #url: string;
  readonly #token: string;

  constructor(options: { url: string; token: string }) {
    this.#url = options.url;
    this.#token = options.token;
  }

  async #fetch(
    method: string,
    path: string,
    options: { body?: object; accept?: string; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    return fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        accept: options.accept ?? 'application/json',
        ...(options.body && { 'content-type': 'application/json' }),
      },
      ...(options.body && { body: JSON.stringify(options.body) }),
      signal: options.signal ? AbortSignal.any([timeout, options.signal]) : timeout,
    });
  }

  /** Sends once. Never throws; `signal` hangs up. */
  async send(
    message: OutgoingMessage,
    options: { transport: 'sse' | 'json'; signal?: AbortSignal },
  ): Promise<SendResult> {
    const { messageId: id, text } = message;
    try {
      const response = await this.#fetch('POST', pathOfSend(message), {
        body: { message: { id, parts: [{ type: 'text', text }] } },
        ...(options.transport === 'sse' && { accept: 'text/event-stream' }),
        ...(options.signal && { signal: options.signal }),
      });
      if (!response.ok) throw await requestErrorOf(response);
      if (options.transport === 'json') return answerOfBody(await response.json());
      if (!response.body) return { kind: 'again', why: 'no body' };
      const answer = await readAnswerStream(response.body);
      const seq = seqOfId(answer.messageId, 'm');
      return seq === undefined
        ? { kind: 'odd', what: `an answer with the id ${answer.messageId}` }
        : { kind: 'answered', seq, text: answer.text };
    } catch (error) {
      return resultOfError(error);
    }
  }

  /** Follows the stream of a turn from its beginning, as a phone does that knows only the turn. */
  async follow(conversationId: string, seq: number): Promise<SendResult> {
    const path = `/v1/conversations/${conversationId}/turns/t_${seq}/stream`;
    try {
      const response = await this.#fetch('GET', path, { accept: 'text/event-stream' });
      if (!response.ok) throw await requestErrorOf(response);
      if (response.status === 204 || !response.body) return { kind: 'again', why: 'no stream' };
      const { text } = await readAnswerStream(response.body);
      return { kind: 'answered', seq, text };
    } catch (error) {
      return resultOfError(error);
    }
  }

  /** Any other call: its JSON, or `undefined` when it did not succeed. */
  async ask(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: unknown } | undefined> {
    try {
      const response = await this.#fetch(method, path, body && { body });
      const parsed: unknown = await response.json();
      return { status: response.status, body: parsed };
    } catch {
      return undefined;
    }
  }
}

function answerOfBody(body: unknown): SendResult {
  const { turn, message } = answerBodySchema.parse(body);
  const text = contentText({ role: 'model', parts: message.parts });
  return { kind: 'answered', seq: turn.seq, text };
}
