import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { contentText, partSchema } from '#shared/models/content.ts';
import { seqOfId } from '#shared/conversation/documents/paths.ts';
import { eventsOf, StreamAssembly, type StreamEvent } from './stream-assembly.ts';

/** An answer as the client has it in the end. */
export interface Answered {
  kind: 'answered';
  seq: number;
  text: string;
  /** Of the context that the model saw. */
  generation: number;
  promptTokens?: number | undefined;
  thresholdTokens?: number | undefined;
}

/** How one try of a send ended, as far as the client can see. */
export type SendResult =
  | Answered
  /** Refused for good; the same id again would be told the same. */
  | { kind: 'failed'; reason: string; explanation: string }
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
  /** What is to happen while another message is answered. */
  onBusy?: 'queue' | 'interrupt';
}

export const pathOf = (conversationId: string, rest = '') =>
  `/v1/conversations/${conversationId}${rest}`;

const pathOfSend = ({ conversationId, replaces }: OutgoingMessage): string =>
  pathOf(conversationId, replaces === undefined ? '/messages' : `/messages/${replaces}:edit`);

const bodyOfSend = ({ messageId: id, text, onBusy }: OutgoingMessage) => ({
  message: { id, parts: [{ type: 'text', text }] },
  ...(onBusy && { onBusy }),
});

/** A stream that is to be read frame by frame. */
export type OpenedStream =
  | { kind: 'open'; seq: number | undefined; events: AsyncIterable<StreamEvent> }
  /** 204: nothing runs, or nothing is left. */
  | { kind: 'empty' }
  | { kind: 'refused'; status: number; reason: string }
  /** No connection. */
  | { kind: 'cut' };

export interface StreamRequest {
  /** After which frame. */
  cursor?: number | undefined;
  /** As the header of an EventSource, or in the address. */
  cursorIn?: 'header' | 'query';
  /** Past the load balancer, to the n-th process. */
  processIndex?: number | undefined;
  signal?: AbortSignal;
}

const answerBodySchema = z.looseObject({
  turn: z.looseObject({ seq: z.number(), state: z.string() }),
  message: z.looseObject({ parts: z.array(partSchema) }),
  context: z.looseObject({ generation: z.number(), thresholdTokens: z.number().nullish() }),
  usage: z.looseObject({ promptTokens: z.number() }).optional(),
});

const REQUEST_TIMEOUT_MS = 20_000;
const READ_TRIES = 5;

const errorBodySchema = z.object({
  error: z.looseObject({
    message: z.string(),
    details: z.array(z.looseObject({ reason: z.string().optional() })).default([]),
  }),
});

/** A reply that is no success: its reason from the body, its delay from Retry-After. */
async function refusalOf(response: Response) {
  const text = await response.text();
  let body: z.infer<typeof errorBodySchema> | undefined;
  try {
    body = errorBodySchema.safeParse(JSON.parse(text)).data;
  } catch {
    // Whoever stands before the functions says it in words.
  }
  const { status } = response;
  const found = body?.error.details.find((detail) => detail.reason !== undefined)?.reason;
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return {
    status,
    reason: found ?? `HTTP_${status}`,
    explanation: body?.error.message ?? text.slice(0, 200),
    ...(Number.isFinite(seconds) && { retryAfterMs: seconds * 1_000 }),
  };
}

/** Refusals that pass by themselves, beside 409, 429 and all from 500 on. */
const passing = new Set(['CONTEXT_WINDOW_WILL_OVERFLOW']);

async function resultOfRefusal(response: Response): Promise<SendResult> {
  const { status, reason, explanation, ...delay } = await refusalOf(response);
  if (reason === 'IDEMPOTENCY_KEY_REUSED' || status === 401 || status === 404)
    return { kind: 'odd', what: `${status} ${reason}` };
  if (status === 409 || status === 429 || status >= 500 || passing.has(reason))
    return { kind: 'again', why: reason, ...delay };
  return { kind: 'failed', reason, explanation };
}

/** The HTTP interface as an app uses it: one method per call, no retries but those of `read`. */
export class ChatClient {
  readonly #url: string;
  readonly #processUrls: readonly string[];
  readonly #token: string;
  readonly #timeoutMs: number;

  constructor(options: {
    url: string;
    token: string;
    processUrls?: readonly string[];
    /** Longest wait for one reply, streams included; default 20 s. */
    timeoutMs?: number;
  }) {
    this.#timeoutMs = options.timeoutMs ?? REQUEST_TIMEOUT_MS;
    this.#url = options.url;
    this.#token = options.token;
    this.#processUrls = options.processUrls ?? [];
  }

  async #fetch(
    method: string,
    path: string,
    options: {
      body?: object;
      accept?: string;
      signal?: AbortSignal;
      headers?: Readonly<Record<string, string>>;
      processIndex?: number | undefined;
    } = {},
  ): Promise<Response> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const url = this.#processUrls[options.processIndex ?? -1] ?? this.#url;
    return fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        accept: options.accept ?? 'application/json',
        ...(options.body && { 'content-type': 'application/json' }),
        ...options.headers,
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
    try {
      const response = await this.#fetch('POST', pathOfSend(message), {
        body: bodyOfSend(message),
        ...(options.transport === 'sse' && { accept: 'text/event-stream' }),
        ...(options.signal && { signal: options.signal }),
      });
      if (!response.ok) return await resultOfRefusal(response);
      if (options.transport === 'json') return answerOfBody(await response.json());
      return await readAnswer(response);
    } catch (error) {
      return { kind: 'again', why: error instanceof Error ? error.name : 'unknown' };
    }
  }

  async #open(
    { method, path, body }: { method: string; path: string; body?: object },
    { cursor, cursorIn = 'header', processIndex, signal }: StreamRequest,
  ): Promise<OpenedStream> {
    const isInQuery = cursor !== undefined && cursorIn === 'query';
    try {
      const response = await this.#fetch(
        method,
        isInQuery ? `${path}?startingAfter=${cursor}` : path,
        {
          accept: 'text/event-stream',
          processIndex,
          ...(body && { body }),
          ...(signal && { signal }),
          ...(cursor !== undefined &&
            !isInQuery && { headers: { 'last-event-id': String(cursor) } }),
        },
      );
      if (!response.ok) {
        const { status, reason } = await refusalOf(response);
        return { kind: 'refused', status, reason };
      }
      if (response.status === 204 || !response.body) return { kind: 'empty' };
      const seq = seqOfId(response.headers.get('x-turn-id') ?? '', 't');
      return { kind: 'open', seq, events: eventsOf(response.body) };
    } catch {
      return { kind: 'cut' };
    }
  }

  /** Sends and leaves the reading to the caller. Never throws; the events may. */
  openSend(message: OutgoingMessage, request: StreamRequest = {}): Promise<OpenedStream> {
    const body = bodyOfSend(message);
    return this.#open({ method: 'POST', path: pathOfSend(message), body }, request);
  }

  /** Follows a turn and leaves the reading to the caller. Never throws; the events may. */
  openTurn(
    { conversationId, seq }: { conversationId: string; seq: number },
    request: StreamRequest = {},
  ): Promise<OpenedStream> {
    const path = pathOf(conversationId, `/turns/t_${seq}/stream`);
    return this.#open({ method: 'GET', path }, request);
  }

  /** Events of the user's inbox after a cursor, until the connection ends. Throws when it is refused or cut. */
  async *userEvents(
    cursor: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<{ id: string; data: string }> {
    const response = await this.#fetch('GET', '/v1/users/me/events', {
      accept: 'text/event-stream',
      signal,
      ...(cursor !== undefined && { headers: { 'last-event-id': cursor } }),
    });
    if (!response.ok || !response.body) throw new Error(`refused: ${await response.text()}`);
    const events = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream({ onError: 'terminate' }));
    for await (const { id, data } of events) if (id !== undefined) yield { id, data };
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

  /** `undefined` for 404. Throws Error when the service does not answer well, after several tries. */
  async read<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
    let last: unknown;
    for (let tries = 0; tries < READ_TRIES; tries += 1) {
      const reply = await this.ask('GET', path);
      if (reply?.status === 200) return schema.parse(reply.body);
      if (reply?.status === 404) return undefined;
      last = reply;
    }
    throw new Error(`GET ${path} does not succeed: ${JSON.stringify(last)}`);
  }

  /** All pages of a list; none for 404. Throws as `read`. */
  async readPages<Page extends { nextPageToken?: string | undefined }>(
    path: string,
    schema: z.ZodType<Page>,
  ): Promise<Page[]> {
    const pages: Page[] = [];
    const sign = path.includes('?') ? '&' : '?';
    let token: string | undefined;
    do {
      const continued = token === undefined ? '' : `&pageToken=${encodeURIComponent(token)}`;
      const page = await this.read(`${path}${sign}pageSize=100${continued}`, schema);
      if (page) pages.push(page);
      token = page?.nextPageToken;
    } while (token !== undefined);
    return pages;
  }
}

/** A stream from its first frame to its end. Throws when the connection is cut. */
export async function readAnswer(response: Response): Promise<SendResult> {
  const seq = seqOfId(response.headers.get('x-turn-id') ?? '', 't');
  if (!response.body || seq === undefined) return { kind: 'odd', what: 'a stream without a turn' };
  const assembly = new StreamAssembly();
  assembly.connect(undefined);
  for await (const event of eventsOf(response.body)) assembly.take(event);
  const [problem] = assembly.problems;
  if (problem !== undefined) return { kind: 'odd', what: `torn stream of turn ${seq}: ${problem}` };
  if (assembly.hasFailed || !assembly.isFinished || !assembly.isDone)
    return { kind: 'again', why: 'broken stream' };
  const { text, generation, promptTokens, thresholdTokens } = assembly;
  return { kind: 'answered', seq, text, generation, promptTokens, thresholdTokens };
}

function answerOfBody(body: unknown): SendResult {
  const { turn, message, context, usage } = answerBodySchema.parse(body);
  return {
    kind: 'answered',
    seq: turn.seq,
    text: contentText({ role: 'model', parts: message.parts }),
    generation: context.generation,
    promptTokens: usage?.promptTokens,
    thresholdTokens: context.thresholdTokens ?? undefined,
  };
}
