import { ApiError, readError, offline } from './api-error.ts';
import { readFrames, type ReceivedFrame } from './event-stream.ts';
import type { Session } from './session.ts';

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From `/v1` on. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

/** What happens on the wire, for who watches it. `exchange` tells requests apart. */
export type WireEvent =
  | { kind: 'request'; exchange: number; at: number; call: Call; url: string; accept: string }
  | { kind: 'response'; exchange: number; at: number; code: number }
  | { kind: 'frame'; exchange: number; at: number; frame: ReceivedFrame }
  | { kind: 'end'; exchange: number; at: number; problem?: string };

export interface OpenStream {
  /** `t_17`; absent for 204. */
  turnId: string | undefined;
  /** Absent: nothing is left of the stream (204). Throws ApiError OFFLINE when it is cut. */
  frames: AsyncIterable<ReceivedFrame> | undefined;
}

export interface RawReply {
  code: number;
  turnId: string | undefined;
  text: string;
}

export interface Requester {
  /** The JSON of the answer; undefined for one without a body. Throws ApiError. */
  json: <T>(call: Call) => Promise<T>;
  /** Throws ApiError. */
  stream: (call: Call) => Promise<OpenStream>;
  /** The answer as it stands on the wire, a refusal too. Throws ApiError OFFLINE. */
  raw: (call: Call, accept: string) => Promise<RawReply>;
  /** The bytes as they come, for a download. Throws ApiError. */
  blob: (call: Call) => Promise<Blob>;
}

interface RequesterParts {
  chatUrl: string;
  session: Session;
  /** Language of the sentences for people. */
  language: () => string;
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

/** The same events; their end, or how they broke off, is told. */
async function* tellingEnd(
  frames: AsyncIterable<ReceivedFrame>,
  tell: (end: { problem?: string }) => void,
): AsyncGenerator<ReceivedFrame> {
  let problem: string | undefined;
  try {
    yield* frames;
  } catch (error) {
    problem = String(error);
    throw error;
  } finally {
    tell(problem === undefined ? {} : { problem });
  }
}

/** Calls of the public API with the caller's token; an expired one is renewed once. */
export function createRequester(parts: RequesterParts): Requester {
  const { session, observe } = parts;
  let exchanges = 0;

  async function attempt(call: Call, accept: string) {
    const exchange = ++exchanges;
    const url = urlOf(parts.chatUrl, call);
    observe({ kind: 'request', exchange, at: Date.now(), call, url, accept });
    try {
      const response = await parts.fetch(url, {
        method: call.method,
        headers: {
          accept,
          authorization: `Bearer ${await session.token()}`,
          'accept-language': parts.language(),
          ...(call.body !== undefined && { 'content-type': 'application/json' }),
          ...call.headers,
        },
        ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
        ...(call.signal && { signal: call.signal }),
      });
      observe({ kind: 'response', exchange, at: Date.now(), code: response.status });
      return { response, exchange };
    } catch (error) {
      observe({ kind: 'end', exchange, at: Date.now(), problem: String(error) });
      throw error instanceof ApiError ? error : offline(error);
    }
  }

  async function send(call: Call, accept: string) {
    const first = await attempt(call, accept);
    const isExpired = first.response.status === 401 && (await session.renew());
    const sent = isExpired ? await attempt(call, accept) : first;
    if (!sent.response.ok) throw await readError(sent.response);
    return sent;
  }

  return {
    json: async (call) => {
      const { response, exchange } = await send(call, 'application/json');
      const text = await response.text();
      observe({ kind: 'end', exchange, at: Date.now() });
      return text === '' ? undefined : JSON.parse(text);
    },
    stream: async (call) => {
      const { response, exchange } = await send(call, 'text/event-stream');
      const turnId = response.headers.get('x-turn-id') ?? undefined;
      if (response.status === 204 || !response.body) return { turnId, frames: undefined };
      const tell = (frame: ReceivedFrame) =>
        observe({ kind: 'frame', exchange, at: Date.now(), frame });
      const frames = tellingEnd(readFrames(response.body, tell), (end) =>
        observe({ kind: 'end', exchange, at: Date.now(), ...end }),
      );
      return { turnId, frames };
    },
    raw: async (call, accept) => {
      const { response, exchange } = await attempt(call, accept);
      const text = await response.text().catch((error: unknown) => {
        throw offline(error);
      });
      observe({ kind: 'end', exchange, at: Date.now() });
      return {
        code: response.status,
        turnId: response.headers.get('x-turn-id') ?? undefined,
        text,
      };
    },
    blob: async (call) => (await send(call, '*/*')).response.blob(),
  };
}
