import type ReactNativeSse from 'react-native-sse';

/** Where the API is, and who asks. */
export interface Backend {
  /** Address of the function, e.g. `https://chat-abc.run.app`. */
  baseUrl: string;
  /** The user's Firebase ID token: `() => getIdToken(getAuth().currentUser)`. */
  getIdToken: () => Promise<string>;
  /** `import EventSource from 'react-native-sse'` */
  EventSource: typeof ReactNativeSse.default;
}

/** A message as it is kept on the phone until its answer is there: the ids are drawn before the first try. */
export interface OutgoingMessage {
  /** `randomUUID()` of expo-crypto, once for each conversation. */
  conversationId: string;
  /** The same, once for each message, and the same one in every try. */
  messageId: string;
  text: string;
}

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

/** One try. Ends with the answer, or with what went wrong and after how long to come back. */
async function tryOnce(
  { baseUrl, getIdToken, EventSource }: Backend,
  { conversationId, path, body, takesCursor }: Asking,
  reading: Reading,
): Promise<{ isDone: true } | { isDone: false; status: number; message: string }> {
  const query = !takesCursor || reading.cursor === null ? '' : `?startingAfter=${reading.cursor}`;
  const url = `${baseUrl}/v1/conversations/${conversationId}${path}${query}`;
  const source = new EventSource(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await getIdToken()}`,
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
        resolve({ isDone: true });
        return;
      }
      reading.cursor = lastEventId;
      const chunk: Chunk = JSON.parse(data ?? '');
      reading.take(chunk);
    });
    source.addEventListener('error', (event) => {
      source.close();
      const status = event.type === 'error' ? event.xhrStatus : 0;
      const message = event.type === 'timeout' ? 'timeout' : event.message;
      resolve({ isDone: false, status, message });
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
  for (let tried = 0; ; tried++) {
    const end = await tryOnce(backend, asking, reading);
    if (end.isDone) return answer;
    if (!WORTH_RETRYING.includes(end.status) || tried === tries) throw new Error(end.message);
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(30_000, firstDelayMs * 2 ** tried)),
    );
  }
}

/**
 * Sends a message and shows its answer while it comes; after a broken connection it goes on after the last
 * event that was read. The same message again never becomes a second one: call this again after the app
 * was closed, for every message that has no answer yet. Rejects with what the server says.
 */
export const sendMessage = (
  backend: Backend,
  { conversationId, messageId, text }: OutgoingMessage,
  showing: Showing,
): Promise<Answer> => {
  const message = { id: messageId, parts: [{ type: 'text', text }] };
  const body = JSON.stringify({ message, clientContext: clientContext() });
  const asking = { conversationId, path: '/messages', body, takesCursor: true };
  return follow(backend, asking, { ...showing, growing: createAnswer() });
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
