/** Where the API is, and who asks. */
export interface Backend {
  /** Address of the function, e.g. `https://chat-abc.run.app`. */
  baseUrl: string;
  /** The user's Firebase ID token, a new one if the service took the last for expired: `(renew) => user.getIdToken(renew)`. */
  getIdToken: (renew?: boolean) => Promise<string>;
  /** Where the service demands App Check: `async () => (await getToken(appCheck)).token`. */
  getAppCheckToken?: () => Promise<string>;
  /** `import EventSource from 'react-native-sse'` */
  EventSource: new (url: string, options: object) => EventSourceLike;
}

/** The part of react-native-sse's class that is used here. */
interface EventSourceLike {
  addEventListener(
    type: 'message',
    listener: (event: { data: string | null; lastEventId: string | null }) => void,
  ): void;
  addEventListener(
    type: 'error',
    listener: (event: { type: string; xhrStatus?: number; message?: string }) => void,
  ): void;
  close(): void;
  /** Its request: of heartbeats, which come every 8 s, and of an orderly end the library makes no event. */
  readonly _xhr?: { readonly readyState: number; readonly responseText: string } | null;
}

/** A message as it is kept on the phone until its answer is there: the ids are drawn before the first try. */
export interface OutgoingMessage {
  /** `randomUUID()` of expo-crypto, once for each conversation. */
  conversationId: string;
  /** The same, once for each message, and the same one in every try. */
  messageId: string;
  text: string;
  /** What `upload` of recap.ts gave, or small ones whole, in base64. */
  files?: FilePart[];
  /** While another message is being answered: refuse this one, wait, or cancel the other. By itself `reject`. */
  onBusy?: 'reject' | 'queue' | 'interrupt';
}

export type FilePart =
  { type: 'file'; uploadId: string } | { type: 'file'; mediaType: string; data: string };

/** A function of the app that the model calls. */
export interface ToolCall {
  toolCallId: string;
  toolName: string;
  input: unknown;
}

/** What it gave, or in `error` why it gave nothing. */
export type ToolResult = { callId: string; output: unknown } | { callId: string; error: string };

/** How full the context is; `compaction.message` is a sentence for the user. */
export interface ContextStatus {
  tokens: number;
  /** null: no automatic compaction. */
  thresholdTokens: number | null;
  percent: number;
  generation: number;
  compaction: { state: string; message?: string } | null;
}

export interface Answer {
  text: string;
  /** The same by the ids of its parts. */
  parts: Map<string, string>;
  /** Calls that wait for `giveResults`, once `finishReason` is `tool-calls`. */
  calls: ToolCall[];
  /** `start` and `finish` of the stream: turnId, generation, usage. */
  metadata: Record<string, unknown>;
  /** The title that was made for the conversation. */
  title?: string | undefined;
  context?: ContextStatus | undefined;
  /** Somebody stopped the answer: its text is not whole. */
  isStopped?: boolean;
  finishReason?: string | undefined;
  errorText?: string | undefined;
}

interface ErrorDetail {
  reason?: string;
  metadata?: { final?: string };
  retryDelay?: string;
}

/** Why there is no whole answer: decide by `reason`, show `message`. */
export class AnswerError extends Error {
  /** HTTP status; 0: no connection. */
  readonly code: number;
  readonly reason: string | undefined;
  /** How long the service asks to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** Nothing to wait for, such as a quota that is back tomorrow: tell the user. */
  readonly isFinal: boolean;
  constructor(code: number, body = '') {
    const unknown = code === 0 ? 'No connection.' : `HTTP ${code}`;
    let error: { message: string; details?: ErrorDetail[] } = { message: unknown };
    try {
      error = JSON.parse(body).error ?? error;
    } catch {
      // no answer of the API, but a broken connection or a page of a proxy in between
    }
    super(error.message);
    const details = error.details ?? [];
    const delay = details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
    this.code = code;
    this.reason = details[0]?.reason;
    this.retryAfterMs = delay === undefined ? undefined : 1_000 * parseFloat(delay);
    this.isFinal = details.some(({ metadata }) => metadata?.final === 'true');
  }
}

/** Codes after which the same message may go through. */
const WORTH_RETRYING = [0, 429, 502, 503, 504];

interface Chunk extends Partial<ToolCall> {
  type: string;
  id?: string;
  delta?: string;
  /** Of `data-notice`, of `data-title`, and of `data-context`. */
  data?: { dropParts?: string[]; title?: string } & ContextStatus;
  errorText?: string;
  finishReason?: string;
  messageMetadata?: Record<string, unknown>;
  /** The server runs it. */
  providerExecuted?: boolean;
}

function takeData(answer: Answer, { type, data }: Chunk): void {
  if (type === 'data-title') answer.title = data?.title;
  if (type === 'data-context') answer.context = data;
  if (type === 'data-notice') for (const part of data?.dropParts ?? []) answer.parts.delete(part);
}

/** An answer while it grows, or goes on: parts by their id, in the order in which they came. */
export function createAnswer(begun?: Answer) {
  const answer: Answer = begun ?? { text: '', parts: new Map(), calls: [], metadata: {} };
  const { parts } = answer;
  const take = (chunk: Chunk): Answer => {
    const { type, id = '', delta = '', toolCallId = '', toolName = '', input } = chunk;
    if (type === 'start') {
      answer.finishReason = answer.errorText = undefined;
      answer.isStopped = false;
    }
    takeData(answer, chunk);
    if (type === 'abort') answer.isStopped = true;
    if (type === 'text-start') parts.set(id, '');
    if (type === 'text-delta') parts.set(id, (parts.get(id) ?? '') + delta);
    if (type.startsWith('tool-'))
      answer.calls = answer.calls.filter((call) => call.toolCallId !== toolCallId);
    if (type === 'tool-input-available' && !chunk.providerExecuted)
      answer.calls.push({ toolCallId, toolName, input });
    if (type === 'error') answer.errorText = chunk.errorText;
    if (type === 'finish') answer.finishReason = chunk.finishReason;
    Object.assign(answer.metadata, chunk.messageMetadata);
    answer.text = [...parts.values()].join('');
    return answer;
  };
  return { answer, take };
}

interface Reading {
  /** Id of the last event that was read. */
  cursor: string | null;
  take: (chunk: Chunk) => void;
}

/** What is sent, in each try the same. */
interface Asking {
  conversationId: string;
  path: string;
  body: string;
  /** Whether another try may begin behind what was read. */
  takesCursor: boolean;
}

/** What the model is told of the moment: date and time of the user come from it. */
const clientContext = () => {
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
  return { timeZone, locale };
};

/** How long to wait before the next try, ms; undefined: the same again would give the same. */
function waitAfter(refusal: AnswerError, backOffMs: number): number | undefined {
  if (!WORTH_RETRYING.includes(refusal.code) || refusal.isFinal) return undefined;
  return refusal.retryAfterMs ?? backOffMs;
}

/** A connection without a byte for so long is dead. */
const SILENT_SECONDS_MAX = 30;

/** One try: undefined once the answer is whole, else what went wrong. */
async function tryOnce(
  { baseUrl, getIdToken, getAppCheckToken, EventSource }: Backend,
  { conversationId, path, body, takesCursor }: Asking,
  { reading, renew, secondMs }: { reading: Reading; renew: boolean; secondMs: number },
): Promise<AnswerError | undefined> {
  const query = !takesCursor || reading.cursor === null ? '' : `?startingAfter=${reading.cursor}`;
  const url = `${baseUrl}/v1/conversations/${conversationId}${path}${query}`;
  const source = new EventSource(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await getIdToken(renew)}`,
      ...(getAppCheckToken && { 'x-firebase-appcheck': await getAppCheckToken() }),
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body,
    // The library would send again by itself after every end, also after a good one.
    pollingInterval: 0,
    timeoutBeforeConnection: 0,
  });
  return new Promise((resolve) => {
    let length = 0;
    let silentSeconds = 0;
    const end = (broken?: AnswerError) => {
      clearInterval(watch);
      source.close();
      resolve(broken);
    };
    const watch = setInterval(() => {
      // oxlint-disable-next-line no-underscore-dangle -- the library shows it under no other name
      const { readyState = 0, responseText = '' } = source._xhr ?? {};
      silentSeconds = responseText.length === length ? silentSeconds + 1 : 0;
      length = responseText.length;
      // 4: the connection ended, in good order, without [DONE].
      if (readyState === 4 || silentSeconds >= SILENT_SECONDS_MAX) end(new AnswerError(0));
    }, secondMs);
    source.addEventListener('message', ({ data, lastEventId }) => {
      if (data === '[DONE]') return end();
      if (!data) return;
      reading.cursor = lastEventId;
      const chunk: Chunk = JSON.parse(data);
      reading.take(chunk);
    });
    source.addEventListener(
      'error',
      ({ xhrStatus = 0, message }) =>
        end(new AnswerError(xhrStatus === 200 ? 0 : xhrStatus, message)), // 200: it broke in the middle
    );
  });
}

interface Showing {
  onChange: (answer: Answer) => void;
  tries?: number;
  firstDelayMs?: number;
  /** How often the connection is looked at. */
  secondMs?: number;
}

async function follow(
  backend: Backend,
  asking: Asking,
  {
    growing,
    onChange,
    tries = 8,
    firstDelayMs = 1_000,
    secondMs = 1_000,
  }: Showing & { growing: ReturnType<typeof createAnswer> },
): Promise<Answer> {
  const { answer, take } = growing;
  const reading: Reading = { cursor: null, take: (chunk: Chunk) => onChange(take(chunk)) };
  let renew = false;
  for (let failures = 0; ; failures++) {
    const before = reading.cursor;
    const broken = await tryOnce(backend, asking, { reading, renew, secondMs });
    if (!broken) return answer;
    renew = broken.reason === 'ID_TOKEN_EXPIRED' && !renew;
    if (renew) continue;
    if (reading.cursor !== before) failures = 0;
    const waitMs = waitAfter(broken, Math.min(30_000, firstDelayMs * 2 ** failures));
    if (waitMs === undefined || failures === tries) throw broken;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** What each way to begin an answer sends. */
const answerTo = (
  backend: Backend,
  { conversationId, path, body }: { conversationId: string; path: string; body: object },
  showing: Showing,
): Promise<Answer> => {
  const sent = JSON.stringify({ ...body, clientContext: clientContext() });
  const asking = { conversationId, path, body: sent, takesCursor: true };
  return follow(backend, asking, { ...showing, growing: createAnswer() });
};

const bodyOf = ({ messageId, text, files = [], onBusy }: OutgoingMessage) => ({
  message: { id: messageId, parts: [{ type: 'text', text }, ...files] },
  onBusy,
});

/**
 * Sends a message and shows its answer while it comes; after a broken connection it goes on after the last
 * event that was read. The same message again never becomes a second one: call this again after the app
 * was closed, for every message that has no answer yet. Rejects with an AnswerError.
 */
export const sendMessage = (
  backend: Backend,
  message: OutgoingMessage,
  showing: Showing,
): Promise<Answer> => {
  const { conversationId } = message;
  return answerTo(backend, { conversationId, path: '/messages', body: bodyOf(message) }, showing);
};

/** Says something else in place of the user's message `replaced`; that message and all after it leave the context. */
export const editMessage = (
  backend: Backend,
  { replaced, ...message }: OutgoingMessage & { replaced: string },
  showing: Showing,
): Promise<Answer> => {
  const { conversationId } = message;
  const path = `/messages/${replaced}:edit`;
  return answerTo(backend, { conversationId, path, body: bodyOf(message) }, showing);
};

/** Answers the last message anew, named by its id. `id`: a UUID, drawn before the first try. */
export const regenerate = (
  backend: Backend,
  { conversationId, messageId, id }: { conversationId: string; messageId: string; id: string },
  showing: Showing,
): Promise<Answer> => {
  const path = `/messages/${messageId}:regenerate`;
  return answerTo(backend, { conversationId, path, body: { id } }, showing);
};

/**
 * Gives what the app's functions returned, to all of `answer.calls`, and shows the whole answer while it goes on. The
 * same results again change nothing.
 */
export const giveResults = (
  backend: Backend,
  { conversationId, answer }: { conversationId: string; answer: Answer },
  { results, ...showing }: Showing & { results: readonly ToolResult[] },
): Promise<Answer> => {
  const path = `/turns/${String(answer.metadata['turnId'])}/toolResults`;
  const asking = { conversationId, path, body: JSON.stringify({ results }), takesCursor: false };
  return follow(backend, asking, { ...showing, growing: createAnswer(answer) });
};
