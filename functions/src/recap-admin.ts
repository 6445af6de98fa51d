import { createIdTokens } from './adapters/access-tokens.ts';
import { isLoopback, localServerToken } from './local-server.ts';
import { z } from 'zod';
import { setTimeout } from 'node:timers/promises';

/* What the package gives to servers of an app: Recap's API for any user. It needs HTTPS and Google's ID tokens alone. */

interface RecapAdminOptions {
  /** Address of chat; `http://127.0.0.1:8080` and the like is a local stack, which takes tokens without a signature. */
  baseUrl: string;
  /** What ID tokens are made out to: ADMIN_AUDIENCE of the deployment. Default: the origin of `baseUrl`. */
  audience?: string;
  /** Gives an ID token in place of the application default credentials. */
  auth?: () => string | Promise<string>;
}

interface SendOptions {
  /** Default: a new conversation. */
  conversationId?: string;
  /** A UUID; the same again is the same message and the same answer. Default: a new one. */
  messageId?: string;
  /** Gets the answer's text piece by piece. What `send` resolves to is what is stored. */
  onText?: (text: string) => void;
  /** Ends the waiting; the answer is finished and stored all the same. */
  signal?: AbortSignal;
  /** Other fields of the request: `onBusy`, `locale`, `clientContext`, … */
  fields?: Readonly<Record<string, unknown>>;
}

/** A message and its answer. */
interface Answer {
  conversationId: string;
  messageId: string;
  turnId: string;
  /** `done`; `awaiting_tool` where the app or the user has to answer a call. */
  state: string;
  /** All text of the answer. */
  text: string;
  /** The whole reply, as the reference has it: `message`, `usage`, `context`, … */
  reply: Readonly<Record<string, unknown>>;
}

interface Call {
  method?: string;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

interface RecapAdmin {
  /** Sends a message as the user, waits for the answer, and is safe to repeat with the same `messageId`. */
  send(
    uid: string,
    message: string | readonly Readonly<Record<string, unknown>>[],
    options?: SendOptions,
  ): Promise<Answer>;
  /** What the model is told in this conversation behind the system instruction; null takes it away. */
  setInstruction(uid: string, conversationId: string, text: string | null): Promise<void>;
  /** Any other call of the API as the user; the path begins with `/v1/`. Throws RecapAdminError for 400 and more. */
  call(uid: string, path: string, call?: Call): Promise<Response>;
}

/** A call was refused, or answered by no success each time. Where there was no answer, fetch's TypeError is thrown. */
export class RecapAdminError extends Error {
  /** HTTP. */
  readonly status: number;
  /** See the reference: `ON_BEHALF_OF_DENIED`, `USER_DAILY_MESSAGES`, … */
  readonly reason: string | undefined;

  constructor(
    status: number,
    { message, reason }: { message: string; reason?: string | undefined },
  ) {
    super(message);
    this.name = 'RecapAdminError';
    this.status = status;
    this.reason = reason;
  }
}

const errorSchema = z.object({
  error: z.object({
    message: z.string(),
    details: z.array(z.object({ reason: z.string().optional() })).optional(),
  }),
});

async function refusal(response: Response): Promise<RecapAdminError> {
  const text = await response.text();
  const body = errorSchema.safeParse(readJson(text)).data?.error;
  return new RecapAdminError(response.status, {
    message: body?.message ?? `Recap answered ${response.status}`,
    reason: body?.details?.find(({ reason }) => reason !== undefined)?.reason,
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const replySchema = z.looseObject({
  turn: z.looseObject({ id: z.string(), state: z.string() }),
  message: z.looseObject({
    parts: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  }),
});

const deltaSchema = z.object({ type: z.literal('text-delta'), delta: z.string() });

/** Waits before the next tries of a call, ms. */
const WAITS_MS = [500, 2_000, 8_000];
/** A service that asks for more than this is not waited for, ms. */
const WAIT_MAX_MS = 30_000;
/** What a later try may pass: the request did not come whole, or nobody was there to serve it. */
const PASSING: ReadonlySet<number> = new Set([408, 502, 503, 504]);

/** Throws the signal's reason as soon as it fires. */
const pause = (ms: number, signal: AbortSignal | undefined) =>
  setTimeout(ms, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted());

/** `Retry-After`, in seconds or as a date, in ms from now; 0 where it says neither. */
function askedWaitMs({ headers }: Response): number {
  const asked = headers.get('retry-after') ?? '';
  return Number(asked) * 1_000 || Date.parse(asked) - Date.now() || 0;
}

const isLocal = ({ protocol, hostname }: URL) => protocol === 'http:' && isLoopback(hostname);

/** Gives `Authorization`. Throws Error for an address that a token must not be sent to. */
function authorization({ baseUrl, audience, auth }: RecapAdminOptions): () => Promise<string> {
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && !isLocal(url))
    throw new Error(`baseUrl must begin with https://, for a token goes there: ${baseUrl}`);
  if (auth) return async () => `Bearer ${await auth()}`;
  if (isLocal(url)) return () => Promise.resolve(`Bearer ${localServerToken(new Date())}`);
  return createIdTokens(audience ?? url.origin);
}

/** The text of a stream's answer, piece by piece. A stream that breaks off is over: the answer is stored. */
async function* readText(
  response: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoderStream();
  const body = response.body?.pipeThrough(decoder as ReadableWritablePair<string, Uint8Array>);
  let text = '';
  try {
    for await (const piece of body ?? []) {
      const lines = (text + piece).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const chunk = deltaSchema.safeParse(readJson(line.replace(/^data: ?/, ''))).data;
        if (chunk) yield chunk.delta;
      }
    }
  } catch {
    signal?.throwIfAborted();
  }
}

/**
 * Acts for users, as a server of the app: with an ID token of a service account that ADMIN_SERVICE_ACCOUNTS of the
 * deployment lists. Throws Error where `baseUrl` has no https.
 */
export function recapAdmin(options: RecapAdminOptions): RecapAdmin {
  const authorize = authorization(options);
  const baseUrl = options.baseUrl.replace(/\/+$/, '');

  const requestOf = async (uid: string, path: string, { body, signal, ...call }: Call) =>
    new Request(`${baseUrl}${path}`, {
      method: call.method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...call.headers,
        authorization: await authorize(),
        'x-recap-on-behalf-of': encodeURIComponent(uid),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      redirect: 'error',
    });

  /** Calls until an answer is there and `read`, which reads it whole or not at all. */
  const ask = async <T>(
    [uid, path, call]: [string, string, Call],
    read: (response: Response) => T | Promise<T>,
  ): Promise<T> => {
    for (let tries = 0; ; tries += 1) {
      // Outside of the try: what cannot be sent at all is no lost connection.
      const request = await requestOf(uid, path, call);
      const waitMs = WAITS_MS[tries];
      let askedMs = 0;
      try {
        const response = await fetch(request);
        if (response.ok) return await read(response);
        askedMs = askedWaitMs(response);
        const isPassing = PASSING.has(response.status) && askedMs <= WAIT_MAX_MS;
        if (!isPassing || waitMs === undefined) throw await refusal(response);
        await response.body?.cancel();
      } catch (error) {
        if (!(error instanceof TypeError) || waitMs === undefined) throw error;
      }
      await pause(Math.max(waitMs ?? 0, askedMs), call.signal);
    }
  };

  const call: RecapAdmin['call'] = (uid, path, request = {}) =>
    ask([uid, path, request], (response) => response);

  return {
    call,
    send: async (uid, message, { onText, signal, fields, ...ids } = {}) => {
      const { conversationId = crypto.randomUUID(), messageId = crypto.randomUUID() } = ids;
      const path = `/v1/conversations/${encodeURIComponent(conversationId)}/messages`;
      const parts = typeof message === 'string' ? [{ type: 'text', text: message }] : message;
      const body = { ...fields, message: { id: messageId, parts } };
      if (onText) {
        const headers = { accept: 'text/event-stream' };
        const stream = await call(uid, path, { body, signal, headers });
        for await (const piece of readText(stream, signal)) onText(piece);
      }
      // Also after a stream: the stored answer, for which no model is called.
      const stored = await ask([uid, path, { body, signal }], (response) => response.json());
      const reply = replySchema.parse(stored);
      const text = reply.message.parts.flatMap((part) =>
        part.type === 'text' ? [part.text ?? ''] : [],
      );
      const { id: turnId, state } = reply.turn;
      return { conversationId, messageId, turnId, state, text: text.join(''), reply };
    },
    setInstruction: async (uid, conversationId, text) => {
      const path = `/v1/conversations/${encodeURIComponent(conversationId)}`;
      const response = await call(uid, `${path}?updateMask=serverInstruction`, {
        method: 'PATCH',
        body: text === null ? {} : { serverInstruction: text },
      });
      await response.body?.cancel();
    },
  };
}

export type { Answer, RecapAdmin, RecapAdminOptions, SendOptions };
