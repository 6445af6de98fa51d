import { recapCommand } from '#infra/command-line.ts';
import { remedyFor } from './remedies.ts';
import { SmokeFailure } from './run-steps.ts';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';

const errorSchema = z.object({
  error: z.object({
    message: z.string(),
    details: z.array(z.looseObject({ reason: z.string().optional() })).default([]),
  }),
});

interface SmokeRequest {
  method?: string;
  path: string;
  body?: object;
  headers?: Readonly<Record<string, string>>;
  /** Statuses that are no failure; default 200 to 299. */
  expect?: readonly number[];
}

export interface SmokeClient {
  url: string;
  /** Throws SmokeFailure unless the status is expected. The body is not read. */
  open(request: SmokeRequest): Promise<Response>;
  /** The same, and the JSON of the answer read by a schema. */
  json<T>(schema: z.ZodType<T>, request: SmokeRequest): Promise<T>;
}

/** Bound of everything but streams, which have the server's. */
const TIMEOUT_MS = 330_000;
const SHOWN_CHARACTERS = 120;

/** The beginning of a text, without the word that a cut would halve: half a token would not be known as one. */
function shown(text: string): string {
  const line = text.replaceAll(/<[^>]*>|\s+/g, ' ').trim();
  if (line.length <= SHOWN_CHARACTERS) return line;
  return `${line.slice(0, Math.max(0, line.lastIndexOf(' ', SHOWN_CHARACTERS)))} …`.trim();
}

const CUT =
  'The connection was cut while the answer came: the instance ended or a proxy gave up; look at the log of chat.';

/** Why no answer came, in words of networks. */
const remedyByCode: Readonly<Record<string, string>> = {
  ENOTFOUND: 'There is no such host: check --url for typos.',
  ECONNREFUSED: `Nobody listens there: is the service up (locally: ${recapCommand('dev')}), and the port right?`,
  UND_ERR_SOCKET: CUT,
  ECONNRESET: CUT,
};
const NO_ANSWER = 'No answer came: check the network from here, and the certificate of the host.';

const codeOf = (error: unknown): string | undefined => {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
};

/** A failed connection as a failure of the step; everything else as it is. */
function networkFailure(tried: string, error: unknown): unknown {
  if (error instanceof SmokeFailure || !(error instanceof Error)) return error;
  const code = codeOf(error);
  return new SmokeFailure({
    tried,
    came: `no answer (${code ?? error.name}: ${error.message})`,
    remedy: remedyByCode[code ?? ''] ?? NO_ANSWER,
  });
}

/** Status, reason, message and request id of an answer that was not expected. */
async function toRefusal(tried: string, response: Response): Promise<SmokeFailure> {
  const text = await response.text();
  let parsed: z.infer<typeof errorSchema> | undefined;
  try {
    parsed = errorSchema.safeParse(JSON.parse(text)).data;
  } catch {
    parsed = undefined;
  }
  const reason = parsed?.error.details.find((detail) => detail.reason !== undefined)?.reason;
  const requestId = response.headers.get('x-request-id');
  return new SmokeFailure({
    tried,
    came: [
      `HTTP ${response.status}`,
      reason ?? 'no reason of Recap’s',
      JSON.stringify(shown(parsed?.error.message ?? text)),
      requestId === null ? 'without a request id' : `request ${requestId}`,
    ].join(', '),
    remedy: remedyFor({ status: response.status, reason }),
  });
}

/** Calls of the public API as one user. */
export function createSmokeClient(options: {
  url: string;
  headers: Readonly<Record<string, string>>;
}): SmokeClient {
  const url = options.url.replace(/\/+$/, '');
  const methodOf = ({ method, body }: SmokeRequest) => method ?? (body ? 'POST' : 'GET');
  const open = async (request: SmokeRequest) => {
    const { path, body, headers, expect } = request;
    const method = methodOf(request);
    const tried = `${method} ${url}${path}`;
    const type = body && { 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...options.headers, ...type, ...headers },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw networkFailure(tried, error);
    });
    const isExpected = expect === undefined ? response.ok : expect.includes(response.status);
    if (!isExpected) throw await toRefusal(tried, response);
    return response;
  };
  return {
    url,
    open,
    async json(schema, request) {
      const response = await open(request);
      const text = await response.text();
      try {
        return schema.parse(JSON.parse(text));
      } catch {
        throw new SmokeFailure({
          tried: `${methodOf(request)} ${url}${request.path}`,
          came: `HTTP ${response.status}, but ${JSON.stringify(shown(text))} is not what this version of Recap answers`,
          remedy: `Something else than Recap may serve this address, or another version of it: compare with \`${recapCommand('package')}\` and \`terraform apply\`.`,
        });
      }
    },
  };
}

const SIGN_UP = 'https://identitytoolkit.googleapis.com/v1/accounts:signUp';

const answerSchema = z.union([
  z.object({ idToken: z.string() }),
  z.object({ error: z.object({ message: z.string() }) }),
]);

function remedyOf(message: string): string {
  if (message.includes('API key') || message.includes('API_KEY'))
    return 'Take the web API key of the Firebase project (Project settings, General), one that is not restricted to another app.';
  return 'Turn on the provider Anonymous in Firebase Authentication, or give --token of a user.';
}

/**
 * A new anonymous user of the Firebase project of a key, and its ID token. `signUpUrl`: another server than
 * Google's. Throws SmokeFailure.
 */
export async function signInAnonymously(apiKey: string, signUpUrl = SIGN_UP): Promise<string> {
  const tried = `POST ${signUpUrl}`;
  const response = await fetch(`${signUpUrl}?key=${encodeURIComponent(apiKey)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ returnSecureToken: true }),
  }).catch((error: unknown) => {
    throw networkFailure(tried, error);
  });
  const answer = answerSchema.safeParse(await response.json().catch(() => undefined)).data;
  if (answer !== undefined && 'idToken' in answer) return answer.idToken;
  const message = answer?.error.message ?? 'no error of Google’s';
  throw new SmokeFailure({
    tried,
    came: `HTTP ${response.status}, ${message}`,
    remedy: remedyOf(message),
  });
}

const chunkSchema = z.looseObject({
  type: z.string(),
  delta: z.string().optional(),
  messageMetadata: z.looseObject({ turnId: z.string().optional() }).optional(),
});

/** An answer as it came. */
export interface StreamRead {
  events: number;
  text: string;
  turnId: string;
  /** When each piece of text came, ms after `startedAt`. */
  textAtMs: number[];
  hasFailed: boolean;
}

/** Chat parts its frames by 40 ms; pieces that come closer than a quarter of it were held up on the way. */
const FRAME_GAP_MS = 40;
/** From fewer nothing can be told. */
export const FEWEST_PIECES = 4;

/** Whether something between chat and here keeps events back and hands them over at once. */
export function isBuffered(textAtMs: readonly number[]): boolean {
  const [first, last] = [textAtMs[0], textAtMs.at(-1)];
  if (first === undefined || last === undefined || textAtMs.length < FEWEST_PIECES) return false;
  return last - first < ((textAtMs.length - 1) * FRAME_GAP_MS) / 4;
}

/** Reads a stream to its end. Throws SmokeFailure for one that is none, is cut, or has no text. */
export async function readStream(
  response: Response,
  { tried, startedAt }: { tried: string; startedAt: number },
): Promise<StreamRead> {
  const type = response.headers.get('content-type') ?? 'no content type';
  if (!type.includes('text/event-stream') || response.body === null)
    throw new SmokeFailure({
      tried,
      came: `${type} in place of text/event-stream`,
      remedy:
        'Something between here and chat changes answers: a proxy or a gateway that takes no streams.',
    });
  const read: StreamRead = { events: 0, text: '', turnId: '', textAtMs: [], hasFailed: false };
  let isDone = false;
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  try {
    for await (const { id, data } of events) {
      if (id !== undefined) read.events += 1;
      if (data === '[DONE]') isDone = true;
      else take(read, chunkSchema.parse(JSON.parse(data)), performance.now() - startedAt);
    }
  } catch (error) {
    throw networkFailure(tried, error);
  }
  if (!isDone)
    throw new SmokeFailure({
      tried,
      came: `the stream ended after ${read.events} events without [DONE]`,
      remedy:
        'The connection was cut: Firebase Hosting ends answers after 60 s, Cloud Run after chat.timeout_seconds; or the instance ended (its log says so).',
    });
  return read;
}

function take(read: StreamRead, chunk: z.infer<typeof chunkSchema>, atMs: number): void {
  if (chunk.type === 'start') read.turnId = chunk.messageMetadata?.turnId ?? '';
  if (chunk.type === 'error') read.hasFailed = true;
  if (chunk.type !== 'text-delta' || chunk.delta === undefined) return;
  read.text += chunk.delta;
  read.textAtMs.push(atMs);
}
