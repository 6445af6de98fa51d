/** Where the API is, and who asks. */
export interface Backend {
  /** Address of the function, e.g. `https://chat-abc.run.app`. */
  baseUrl: string;
  /** The user's Firebase ID token: `() => getIdToken(getAuth().currentUser)`. */
  getIdToken: () => Promise<string>;
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

export interface Answer {
  text: string;
  /** The same by the ids of its parts. */
  parts: Map<string, string>;
  /** Calls that wait for `giveResults`, once `finishReason` is `tool-calls`. */
  calls: ToolCall[];
  /** `start` and `finish` of the stream: turnId, generation, usage. */
  metadata: Record<string, unknown>;
  finishReason?: string | undefined;
  errorText?: string | undefined;
}

/** HTTP codes after which the same message may go through; 0: no connection. */
const WORTH_RETRYING = [0, 200, 429, 502, 503, 504];

interface Chunk extends Partial<ToolCall> {
  type: string;
  id?: string;
  delta?: string;
  data?: { dropParts?: string[] };
  errorText?: string;
  finishReason?: string;
  messageMetadata?: Record<string, unknown>;
  /** The server runs it. */
  providerExecuted?: boolean;
}

/** An answer while it grows, or goes on: parts by their id, in the order in which they came. */
export function createAnswer(begun?: Answer) {
  const answer: Answer = begun ?? { text: '', parts: new Map(), calls: [], metadata: {} };
  const { parts } = answer;
  const take = (chunk: Chunk): Answer => {
    const { type, id = '', delta = '', toolCallId = '', toolName = '', input } = chunk;
    if (type === 'start') answer.finishReason = answer.errorText = undefined;
    if (type === 'data-notice') for (const part of chunk.data?.dropParts ?? []) parts.delete(part);
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

/** What ended a try before its answer was whole: the HTTP status, and the body of the error. */
interface Break {
  status: number;
  message: string;
}

/** How long to wait before the next try, ms; undefined: the same again would give the same. */
function waitAfter({ status, message }: Break, backOffMs: number): number | undefined {
  if (!WORTH_RETRYING.includes(status)) return undefined;
  try {
    const details: { metadata?: { final?: string }; retryDelay?: string }[] =
      JSON.parse(message).error.details;
    // A quota that is back tomorrow: the user is told, nobody waits.
    if (details.some(({ metadata }) => metadata?.final === 'true')) return undefined;
    const said = details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
    return said === undefined ? backOffMs : 1_000 * parseFloat(said);
  } catch {
    return backOffMs; // no answer of the API, but a broken connection or a page of a proxy
  }
}

/** One try: undefined once the answer is whole, else what went wrong. */
async function tryOnce(
  { baseUrl, getIdToken, getAppCheckToken, EventSource }: Backend,
  { conversationId, path, body, takesCursor }: Asking,
  reading: Reading,
): Promise<Break | undefined> {
  const query = !takesCursor || reading.cursor === null ? '' : `?startingAfter=${reading.cursor}`;
  const url = `${baseUrl}/v1/conversations/${conversationId}${path}${query}`;
  const source = new EventSource(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await getIdToken()}`,
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
    source.addEventListener('message', ({ data, lastEventId }) => {
      if (data === '[DONE]') {
        source.close();
        resolve(undefined);
        return;
      }
      reading.cursor = lastEventId;
      const chunk: Chunk = JSON.parse(data ?? '');
      reading.take(chunk);
    });
    source.addEventListener('error', (event) => {
      source.close();
      const { type, xhrStatus = 0, message = type } = event;
      resolve({ status: xhrStatus, message });
    });
  });
}

interface Showing {
  onChange: (answer: Answer) => void;
  tries?: number;
  firstDelayMs?: number;
}

async function follow(
  backend: Backend,
  asking: Asking,
  {
    growing,
    onChange,
    tries = 8,
    firstDelayMs = 1_000,
  }: Showing & { growing: ReturnType<typeof createAnswer> },
): Promise<Answer> {
  const { answer, take } = growing;
  const reading: Reading = { cursor: null, take: (chunk: Chunk) => onChange(take(chunk)) };
  for (let failures = 0; ; failures++) {
    const before = reading.cursor;
    const broken = await tryOnce(backend, asking, reading);
    if (!broken) return answer;
    if (reading.cursor !== before) failures = 0;
    const waitMs = waitAfter(broken, Math.min(30_000, firstDelayMs * 2 ** failures));
    if (waitMs === undefined || failures === tries) throw new Error(broken.message);
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

const bodyOf = ({ messageId, text, files = [] }: OutgoingMessage) => ({
  message: { id: messageId, parts: [{ type: 'text', text }, ...files] },
});

/**
 * Sends a message and shows its answer while it comes; after a broken connection it goes on after the last
 * event that was read. The same message again never becomes a second one: call this again after the app
 * was closed, for every message that has no answer yet. Rejects with what the server says.
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
