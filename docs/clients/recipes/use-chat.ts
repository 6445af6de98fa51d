/** Where the API is, and who asks. */
export interface Backend {
  /** Address of the function, e.g. `https://chat-abc.run.app`. */
  baseUrl: string;
  /** The user's Firebase ID token; the Firebase SDK renews it by itself. */
  getIdToken: () => Promise<string>;
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

/**
 * For `new DefaultChatTransport(…)`: only what is new travels, a message or what tools of the app have given, and which
 * message it comes after. `aiSdk`: the major version of your `ai`. `onDisconnect`: whether the answer stops, some seconds
 * after `stop()`, a closed page or a lost connection, if nobody comes back.
 */
export const transportOptions = (
  backend: Backend,
  { aiSdk = 5, onDisconnect = 'stop' }: { aiSdk?: number; onDisconnect?: 'stop' | 'continue' } = {},
) => ({
  api: `${backend.baseUrl}/v1/ai-sdk/chat`,
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
  await fetch(`${backend.baseUrl}/v1/conversations/${conversationId}/turns/${turnId}:cancel`, {
    method: 'POST',
    headers: await authorize(backend),
  });
}

interface StoredMessage {
  id: string;
  seq: number;
  role: 'user' | 'model';
  parts: { type: string; text?: string; mediaType?: string; data?: string; url?: string }[];
  replaces?: number;
}

interface Page {
  messages: StoredMessage[];
  nextPageToken?: string;
}

type UiPart = { type: 'text'; text: string } | { type: 'file'; mediaType: string; url: string };

/** The messages of a conversation for `useChat({ messages })`, without those that others took the place of. */
export async function loadMessages(backend: Backend, conversationId: string) {
  const stored: StoredMessage[] = [];
  for (let pageToken: string | undefined = ''; pageToken !== undefined;) {
    const query = new URLSearchParams({ pageSize: '100', ...(pageToken && { pageToken }) });
    const page = await fetch(
      `${backend.baseUrl}/v1/conversations/${conversationId}/messages?${query}`,
      { headers: await authorize(backend) },
    );
    if (page.status === 404) return []; // nothing was sent yet
    const { messages, nextPageToken }: Page = JSON.parse(await page.text());
    stored.push(...messages);
    pageToken = nextPageToken;
  }
  const isReplaced = ({ seq }: StoredMessage) =>
    stored.some(({ replaces = Infinity, seq: by }) => replaces <= seq && seq < by);
  return stored
    .filter((message) => !isReplaced(message))
    .map(({ id, role, parts }) => ({
      id,
      role: role === 'user' ? ('user' as const) : ('assistant' as const),
      parts: parts.flatMap(({ type, text = '', mediaType = '', data, url }): UiPart[] => {
        if (type === 'text') return [{ type: 'text', text }];
        if (type !== 'file') return [];
        const address = url ?? `data:${mediaType};base64,${data}`;
        return [{ type: 'file', mediaType, url: address }];
      }),
    }));
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
