import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { offline, ApiError, readError } from './api-error.ts';
import type { Session } from './session.ts';
import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** One event of an answer. Those that tell of a broken stream have no id. */
export interface ReceivedFrame {
  id: number | undefined;
  chunk: StreamChunk;
}

/** The service says something every eight seconds: a connection that is silent for longer is lost. */
const SILENCE_MAX_MS = 30_000;

/** The events of a stream as they come; ends where the connection does. */
async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<EventSourceMessage> {
  const received: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => received.push(event) });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const silence = setTimeout(() => void reader.cancel().catch(() => undefined), SILENCE_MAX_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* received.splice(0);
    }
  } finally {
    // Whoever stops reading hangs up; a cut connection has nothing to cancel.
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * The events of an answer up to its `[DONE]`. Throws ApiError OFFLINE when the connection ends before that:
 * then the rest is to be asked for.
 */
async function* readFrames(
  body: ReadableStream<Uint8Array>,
  tell: Tell,
): AsyncGenerator<ReceivedFrame> {
  let problem: string | undefined;
  try {
    for await (const { id, data } of readEvents(body)) {
      if (data === '[DONE]') return;
      const frame = { id: id ? Number(id) : undefined, chunk: JSON.parse(data) };
      tell({ kind: 'frame', frame });
      yield frame;
    }
    throw new Error('the stream ended without [DONE]');
  } catch (error) {
    problem = String(error);
    throw offline(error);
  } finally {
    tell({ kind: 'end', problem });
  }
}

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From `/v1` on. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  signal?: AbortSignal;
}

type WireStep =
  | { kind: 'request'; call: Call; url: string; accept: string }
  | { kind: 'response'; code: number }
  | { kind: 'frame'; frame: ReceivedFrame }
  | { kind: 'end'; problem?: string };

/** What happens on the wire, for who watches it. `exchange` tells requests apart. */
export type WireEvent = WireStep & { exchange: number; at: number };

type Tell = (step: WireStep) => void;

export interface OpenStream {
  /** `t_17`; absent for 204. */
  turnId: string | undefined;
  /** Absent: nothing is left of the stream (204). Throws ApiError OFFLINE when it is cut. */
  frames: AsyncIterable<ReceivedFrame> | undefined;
}

export interface Requester {
  /** The JSON of the answer; undefined for one without a body. Throws ApiError. */
  json: <T>(call: Call) => Promise<T>;
  /** Throws ApiError. */
  stream: (call: Call) => Promise<OpenStream>;
  /** The events of a stream that has no end of its own. Throws ApiError OFFLINE when it is cut. */
  events: (call: Call) => AsyncIterable<EventSourceMessage>;
}

interface RequesterParts {
  chatUrl: string;
  session: Session;
  observe: (event: WireEvent) => void;
  fetch: typeof fetch;
}

function urlOf(chatUrl: string, { path, query = {} }: Call): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return `${chatUrl}${path}${text === '' ? '' : `?${text}`}`;
}

/** The answer to one request, a refusal too. Throws ApiError OFFLINE. */
async function sendOnce(
  parts: RequesterParts,
  call: Call,
  { accept, tell }: { accept: string; tell: Tell },
): Promise<Response> {
  const url = urlOf(parts.chatUrl, call);
  tell({ kind: 'request', call, url, accept });
  try {
    const response = await parts.fetch(url, {
      method: call.method,
      headers: {
        accept,
        authorization: `Bearer ${await parts.session.token()}`,
        // What the service says to people is shown as it is.
        'accept-language': 'en',
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
      },
      body: JSON.stringify(call.body),
      signal: call.signal,
    });
    tell({ kind: 'response', code: response.status });
    return response;
  } catch (error) {
    tell({ kind: 'end', problem: String(error) });
    throw error instanceof ApiError ? error : offline(error);
  }
}

/** Calls of the public API with the caller's token; an expired one is renewed once. */
export function createRequester(parts: RequesterParts): Requester {
  let exchanges = 0;

  async function attempt(call: Call, accept: string) {
    const exchange = ++exchanges;
    const tell: Tell = (step) => parts.observe({ ...step, exchange, at: Date.now() });
    return { response: await sendOnce(parts, call, { accept, tell }), tell };
  }

  async function send(call: Call, accept: string) {
    const first = await attempt(call, accept);
    const isExpired = first.response.status === 401 && (await parts.session.renew());
    const sent = isExpired ? await attempt(call, accept) : first;
    if (!sent.response.ok) throw await readError(sent.response);
    return sent;
  }

  return {
    json: async (call) => {
      const { response, tell } = await send(call, 'application/json');
      const text = await response.text();
      tell({ kind: 'end' });
      return text === '' ? undefined : JSON.parse(text);
    },
    stream: async (call) => {
      const { response, tell } = await send(call, 'text/event-stream');
      const turnId = response.headers.get('x-turn-id') ?? undefined;
      if (response.status === 204 || !response.body) return { turnId, frames: undefined };
      return { turnId, frames: readFrames(response.body, tell) };
    },
    events: async function* events(call) {
      const { response, tell } = await send(call, 'text/event-stream');
      try {
        if (response.body) yield* readEvents(response.body);
      } catch (error) {
        throw offline(error);
      } finally {
        tell({ kind: 'end' });
      }
    },
  };
}
