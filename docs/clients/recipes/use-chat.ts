/** Where the API is, and who asks. */
export interface Backend {
  /** Address of the function, e.g. `https://chat-abc.run.app`. */
  baseUrl: string;
  /** The user's Firebase ID token, a new one if the service took the last for expired: `(renew) => user.getIdToken(renew)`. */
  getIdToken: (renew?: boolean) => Promise<string>;
  /** Where the service demands App Check: `async () => (await getToken(appCheck)).token`. */
  getAppCheckToken?: () => Promise<string>;
}

/** The parts of `useChat` (and of the class `Chat`) that are used here; the same in `ai` 5, 6 and 7. */
export interface ChatLike<Message extends { role: string; metadata?: unknown }> {
  messages: Message[];
  status: string;
  error: Error | undefined;
  sendMessage: () => Promise<void>;
}

const authorize = async ({ getIdToken, getAppCheckToken }: Backend) => ({
  authorization: `Bearer ${await getIdToken()}`,
  ...(getAppCheckToken && { 'x-firebase-appcheck': await getAppCheckToken() }),
});

/** Sends a call whose ID token has expired once more, with a new one. */
async function fetchRenewed(
  { getIdToken }: Backend,
  url: string | URL | Request,
  init: RequestInit,
) {
  const response = await fetch(url, init);
  if (response.status !== 401 || !(await response.clone().text()).includes('ID_TOKEN_EXPIRED'))
    return response;
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${await getIdToken(true)}`);
  return fetch(url, { ...init, headers });
}

/** A heartbeat comes every 8 s: a stream without a byte for so long is dead. */
const SILENCE_MS = 30_000;

/** The same stream; it breaks, as one whose connection was lost, after a long silence or an end without `[DONE]`. */
function watchStream(response: Response, silenceMs: number): Response {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (!response.body || !isStream) return response;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let tail = '';
  const read = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    let timer;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new TypeError('The connection broke.')), silenceMs);
    });
    try {
      const { done, value } = await Promise.race([reader.read(), silence]);
      if (value) controller.enqueue(value);
      tail = (tail + decoder.decode(value, { stream: true })).slice(-20);
      if (!done) return;
      if (!tail.includes('data: [DONE]')) throw new TypeError('The connection broke.');
      controller.close();
    } catch (error) {
      void reader.cancel().catch(() => undefined);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  const body = new ReadableStream({ pull: read, cancel: (reason) => reader.cancel(reason) });
  const { status, headers } = response;
  return new Response(body, { status, headers });
}

/**
 * For `new DefaultChatTransport(…)`: only what is new travels, a message or what tools of the app have given, and which
 * message it comes after. `aiSdk`: the major version of your `ai`. `onDisconnect`: whether the answer stops, some seconds
 * after `stop()`, a closed page or a lost connection, if nobody comes back.
 */
export const transportOptions = (
  backend: Backend,
  {
    aiSdk = 5,
    onDisconnect = 'stop',
    silenceMs = SILENCE_MS,
  }: { aiSdk?: number; onDisconnect?: 'stop' | 'continue'; silenceMs?: number } = {},
) => ({
  api: `${backend.baseUrl}/v1/ai-sdk/chat`,
  fetch: async (url: string | URL | Request, init: RequestInit = {}) =>
    watchStream(await fetchRenewed(backend, url, init), silenceMs),
  headers: async () => ({
    ...(await authorize(backend)),
    'x-ai-sdk-version': String(aiSdk), // from 6 on, questions for approval come as parts
    'x-on-disconnect': onDisconnect,
  }),
  prepareSendMessagesRequest: <Message extends { id: string; role: string }>(request: {
    id: string;
    messages: Message[];
    trigger: string;
    messageId: string | undefined;
    body: object | undefined;
  }) => {
    const { id, trigger, messageId, body } = request;
    const lastOfUser = request.messages.findLastIndex(({ role }) => role === 'user');
    const start = Math.max(lastOfUser, 0);
    // The answer before it, without what it says: where the server has more behind that, this is an edit.
    const before = request.messages.slice(0, start).slice(-1);
    const messages = [
      ...before.map(({ id: messageBefore, role }) => ({ id: messageBefore, role, parts: [] })),
      ...request.messages.slice(start),
    ];
    // The model is told what time it is for the user.
    const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
    const clientContext = { timeZone, locale };
    return { body: { clientContext, ...body, id, messages, trigger, messageId } };
  },
});

/** What to show of an error, what to decide by, and when to come back; `isFinal`: not today. */
export function readError(error: Error): {
  message: string;
  code?: number;
  reason?: string;
  retryAfterMs?: number;
  isFinal?: boolean;
} {
  try {
    const { message, code, details } = JSON.parse(error.message).error;
    const [{ reason, metadata }, retryInfo] = details;
    const retryAfterMs = 1_000 * parseFloat(retryInfo?.retryDelay ?? '0');
    return { message, code, reason, retryAfterMs, isFinal: metadata?.final === 'true' };
  } catch {
    return { message: error.message }; // in the middle of an answer it is the text itself
  }
}

/** Whether the same message again may go through: the network broke, or the server asks to come back soon. */
export function isWorthRetrying(error: Error): boolean {
  const { code = 0, isFinal = false } = readError(error);
  return error instanceof TypeError || ([429, 502, 503, 504].includes(code) && !isFinal);
}

/**
 * Sends the last message once more: it attaches to the answer that runs, or gets the one that is stored.
 * A part of it that was shown already goes first, the answer comes whole.
 */
export async function catchUp<Message extends { role: string }>(
  chat: ChatLike<Message>,
): Promise<void> {
  const last = chat.messages.findLastIndex(({ role }) => role === 'user');
  chat.messages = chat.messages.slice(0, last + 1);
  await chat.sendMessage();
}

/** After a send: comes back as long as it makes sense, after 1, 2, 4 … seconds, or when the server says. */
export async function retry<Message extends { role: string }>(
  chat: ChatLike<Message>,
  { tries = 6, firstDelayMs = 1_000 } = {},
): Promise<void> {
  for (let tried = 0; tried < tries; tried++) {
    if (!chat.error || !isWorthRetrying(chat.error)) return;
    const { retryAfterMs = 0 } = readError(chat.error);
    const delayMs = Math.max(retryAfterMs, firstDelayMs * 2 ** tried);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await catchUp(chat);
  }
}

/** Stops the answer on the server at once: `chat.stop()` closes the connection, as a reload does. */
export async function stopAnswer(
  backend: Backend,
  chat: Pick<ChatLike<{ role: string; metadata?: unknown }>, 'messages'>,
): Promise<void> {
  const { turnId, conversationId } = (chat.messages.at(-1)?.metadata ?? {}) as {
    turnId?: string;
    conversationId?: string;
  };
  if (turnId === undefined) return;
  const url = `${backend.baseUrl}/v1/conversations/${conversationId}/turns/${turnId}:cancel`;
  await fetchRenewed(backend, url, { method: 'POST', headers: await authorize(backend) });
}

/**
 * For `onToolCall`: runs a tool in one tab only, though each tab of the chat sees the call. The tab keeps the lock until
 * it is closed. Resolves to false where another one has it.
 */
export const runOnce = (
  chatId: string,
  toolCallId: string,
  run: () => Promise<unknown>,
): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const options = { ifAvailable: true };
    const held = navigator.locks.request(`${chatId} ${toolCallId}`, options, async (lock) => {
      if (!lock) return resolve(false);
      await run();
      resolve(true);
      await new Promise(() => undefined);
    });
    held.catch(reject); // the tool failed: another tab may try
  });

interface StoredPart {
  type: string;
  text?: string;
  mediaType?: string;
  data?: string;
  url?: string;
  uploadId?: string;
  name?: string;
  callId?: string;
  args?: unknown;
  response?: Record<string, unknown>;
  providerExecuted?: true;
}

interface StoredMessage {
  id: string;
  seq: number;
  role: 'user' | 'model';
  parts: StoredPart[];
  replaces?: number;
}

interface FilePart {
  type: 'file';
  mediaType: string;
  url: string;
  filename?: string;
  providerMetadata?: { recap: { uploadId: string } };
}

type ToolPart = {
  type: 'dynamic-tool';
  toolName: string;
  toolCallId: string;
  input: unknown;
  providerExecuted?: boolean;
} & (
  | { state: 'input-available' }
  | { state: 'output-available'; output: unknown }
  | { state: 'output-error'; errorText: string }
);

type UiPart = { type: 'text'; text: string } | { type: 'step-start' } | FilePart | ToolPart;

/** What the API says. Throws Error for a refusal; `readError` reads it. Undefined: there is nothing of that name. */
async function readJson(backend: Backend, path: string) {
  const headers = await authorize(backend);
  const reply = await fetchRenewed(backend, `${backend.baseUrl}/v1/${path}`, { headers });
  const text = await reply.text();
  if (reply.status === 404) return undefined;
  if (!reply.ok) throw new Error(text);
  return JSON.parse(text);
}

/** A file with an address that a page can show; that of an upload is good for some minutes. */
async function showFile(backend: Backend, part: StoredPart): Promise<FilePart> {
  const { mediaType = '', data, url, uploadId, name: filename } = part;
  const file = { type: 'file' as const, mediaType, ...(filename && { filename }) };
  if (!uploadId) return { ...file, url: url ?? `data:${mediaType};base64,${data}` };
  const upload = await readJson(backend, `uploads/${uploadId}`);
  // Who sends the message again names the upload, not the address.
  const providerMetadata = { recap: { uploadId } };
  return { ...file, url: upload?.url ?? `upload:${uploadId}`, providerMetadata };
}

/** A call with what came of it: nothing, as long as it waits. */
function showCall(call: StoredPart, response: Record<string, unknown> | undefined): ToolPart {
  const part = {
    type: 'dynamic-tool' as const,
    toolName: call.name ?? '',
    toolCallId: call.callId ?? '',
    input: call.args,
    ...(call.providerExecuted && { providerExecuted: true }),
  };
  if (!response) return { ...part, state: 'input-available' };
  const { error, ...others } = response;
  if (typeof error === 'string') return { ...part, state: 'output-error', errorText: error };
  const isBare = 'output' in others && Object.keys(others).length === 1;
  return { ...part, state: 'output-available', output: isBare ? others['output'] : response };
}

/** The parts of a message as `useChat` has them: responses in their calls, a new step behind them. */
async function showParts(backend: Backend, stored: StoredPart[]): Promise<UiPart[]> {
  const parts: UiPart[] = [];
  for (const [index, part] of stored.entries()) {
    const isNewStep = stored[index - 1]?.type === 'functionResponse';
    if (isNewStep && part.type !== 'functionResponse') parts.push({ type: 'step-start' });
    if (part.type === 'text') parts.push({ type: 'text', text: part.text ?? '' });
    if (part.type === 'file') parts.push(await showFile(backend, part));
    if (part.type !== 'functionCall') continue;
    const answer = stored.find(
      ({ type, callId }) => type === 'functionResponse' && callId === part.callId,
    );
    parts.push(showCall(part, answer?.response));
  }
  return parts;
}

/**
 * The messages of a conversation for `useChat`, without those that others took the place of: the newest page first, then
 * what goes before it, each page in the order of the conversation. Throws Error when the server refuses to show them (401:
 * sign in again); `readError` says why.
 */
export async function* loadPages(backend: Backend, conversationId: string) {
  const path = `conversations/${encodeURIComponent(conversationId)}/messages`;
  /** From here on, later turns took the place of what was said. */
  let replacedFrom = Infinity;
  let turn: { seq: number; replaces?: number } = { seq: Infinity };
  for (let pageToken: string | undefined = ''; pageToken !== undefined;) {
    const parameters = { order: 'desc', pageSize: '100', ...(pageToken && { pageToken }) };
    const page: { messages: StoredMessage[]; nextPageToken?: string } | undefined = await readJson(
      backend,
      `${path}?${new URLSearchParams(parameters)}`,
    );
    if (!page) return; // nothing was sent yet
    const shown: StoredMessage[] = [];
    for (const message of page.messages) {
      if (message.seq < turn.seq) {
        replacedFrom = Math.min(replacedFrom, turn.replaces ?? Infinity);
        turn = message;
      }
      if (message.seq < replacedFrom) shown.unshift(message);
    }
    yield await Promise.all(
      shown.map(async ({ id, role, parts }) => ({
        id,
        role: role === 'user' ? ('user' as const) : ('assistant' as const),
        parts: await showParts(backend, parts),
      })),
    );
    pageToken = page.nextPageToken;
  }
}

/** All of them, in the order of the conversation: of a long one the reader waits for the whole. */
export async function loadMessages(backend: Backend, conversationId: string) {
  const pages = [];
  for await (const page of loadPages(backend, conversationId)) pages.unshift(page);
  return pages.flat();
}

/** The parts that hold: an answer that was begun anew says so, and what stands before that is void. */
export function shownParts<Part extends { type: string; data?: unknown }>(
  parts: readonly Part[],
): Part[] {
  const isRestart = ({ type, data }: Part) =>
    type === 'data-notice' &&
    typeof data === 'object' &&
    data !== null &&
    'kind' in data &&
    data.kind === 'restarted';
  const restarted = parts.findLastIndex(isRestart);
  return parts.slice(restarted + 1);
}
