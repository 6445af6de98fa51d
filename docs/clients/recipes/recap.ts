/** Where the API is, and who asks. */
export interface Backend {
  /** Address of the function, e.g. `https://chat-abc.run.app`. */
  baseUrl: string;
  /** The user's Firebase ID token, a new one if the service took the last for expired: `(renew) => user.getIdToken(renew)`. */
  getIdToken: (renew?: boolean) => Promise<string>;
  /** Where the service demands App Check: `async () => (await getToken(appCheck)).token`. */
  getAppCheckToken?: () => Promise<string>;
}

export interface Conversation {
  id: string;
  title?: string;
}

/** A row of the list. `state`: "idle", "running", "waiting" (for the app) or "failed". */
export interface ConversationRow extends Conversation {
  state: string;
  lastMessage?: { seq: number; role: string; preview?: string };
  unreadCount: number;
  activeTime: string;
}

export interface StoredMessage {
  id: string;
  turnId: string;
  seq: number;
  role: 'user' | 'model';
  parts: { type: string; text?: string }[];
  state: string;
  inContext: boolean;
}

/** A part of a message that names an uploaded file. */
export interface UploadedFile {
  type: 'file';
  uploadId: string;
}

/** A refusal: decide by `reason`, show `message`. `code`: HTTP status, 0 where there was no connection. */
export class RecapError extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  constructor(code: number, body = '') {
    const unknown = code === 0 ? 'No connection.' : `HTTP ${code}`;
    let error: { message: string; details?: { reason?: string }[] } = { message: unknown };
    try {
      error = JSON.parse(body).error ?? error;
    } catch {
      // no answer of the API, but a broken connection or a page of a proxy in between
    }
    super(error.message);
    this.code = code;
    this.reason = error.details?.[0]?.reason;
  }
}

/** A call without an answer for so long has no connection any more. */
const CALL_TIMEOUT_MS = 30_000;
const UPLOAD_TIMEOUT_MS = 300_000;

/** Status and text of an answer. Rejects with a RecapError where there is none. */
async function load(url: string, init: RequestInit, timeoutMs: number) {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  try {
    const response = await fetch(url, { ...init, signal: timeout.signal });
    return { ok: response.ok, status: response.status, text: await response.text() };
  } catch {
    throw new RecapError(0);
  } finally {
    clearTimeout(timer);
  }
}

const pageQuery = (pageToken: string | undefined) =>
  pageToken === undefined ? '' : `?pageToken=${encodeURIComponent(pageToken)}`;

/** All calls but the streams, which `react-native.ts` and `useChat` read. Every call rejects with a RecapError. */
export class Recap {
  readonly #backend: Backend;
  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Any call, such as `('POST', '/conversations/…:compact')`; the JSON that it answers. */
  async call<Reply>(method: string, path: string, body?: unknown): Promise<Reply> {
    const text = await this.#send({ method, path, body }, false);
    return JSON.parse(text || 'null');
  }

  async #send(
    call: { method: string; path: string; body: unknown },
    renew: boolean,
  ): Promise<string> {
    const { method, path, body } = call;
    const { baseUrl, getIdToken, getAppCheckToken } = this.#backend;
    const init = {
      method,
      headers: {
        authorization: `Bearer ${await getIdToken(renew)}`,
        ...(getAppCheckToken && { 'x-firebase-appcheck': await getAppCheckToken() }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const { ok, status, text } = await load(`${baseUrl}/v1${path}`, init, CALL_TIMEOUT_MS);
    if (ok) return text;
    const refusal = new RecapError(status, text);
    if (refusal.reason === 'ID_TOKEN_EXPIRED' && !renew) return this.#send(call, true);
    throw refusal;
  }

  /** The newest first; go on with `nextPageToken`. */
  listConversations(pageToken?: string) {
    return this.call<{ conversations: ConversationRow[]; nextPageToken?: string }>(
      'GET',
      `/conversations${pageQuery(pageToken)}`,
    );
  }

  /** The oldest first, replaced ones too (`inContext: false`); go on with `nextPageToken`. */
  listMessages(conversationId: string, pageToken?: string) {
    return this.call<{ messages: StoredMessage[]; nextPageToken?: string }>(
      'GET',
      `/conversations/${conversationId}/messages${pageQuery(pageToken)}`,
    );
  }

  rename(conversationId: string, title: string) {
    return this.call<Conversation>('PATCH', `/conversations/${conversationId}`, { title });
  }

  /** Of an answer (`m_1`); again, it takes the place of what was said before. */
  rate(conversationId: string, messageId: string, rating: 'up' | 'down') {
    const path = `/conversations/${conversationId}/messages/${messageId}/feedback`;
    return this.call<{ rating: string }>('PUT', path, { rating });
  }

  /** Ends an answer that is being given; its text so far stays. */
  stop(conversationId: string, turnId: string) {
    return this.call<unknown>('POST', `/conversations/${conversationId}/turns/${turnId}:cancel`);
  }

  /** Up to 20 MB. Keep the part with the message. React Native: `await (await fetch(uri)).blob()` makes a Blob. */
  async upload(file: Blob, name?: string): Promise<UploadedFile> {
    const about = { mimeType: file.type, sizeBytes: file.size, ...(name && { name }) };
    const begun = await this.call<{
      uploadId: string;
      url: string;
      method: string;
      headers: Record<string, string>;
    }>('POST', '/uploads', about);
    const { uploadId, url, method, headers } = begun;
    const put = await load(url, { method, headers, body: file }, UPLOAD_TIMEOUT_MS);
    // 412: an earlier try of this PUT has brought the file.
    if (!put.ok && put.status !== 412) throw new RecapError(put.status, put.text);
    return { type: 'file', uploadId };
  }
}
