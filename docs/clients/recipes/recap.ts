/** Where the API is, and who asks. */
export interface Backend {
  /** Address of the function, e.g. `https://chat-abc.run.app`. */
  baseUrl: string;
  /** The user's Firebase ID token; the Firebase SDK renews it by itself. */
  getIdToken: () => Promise<string>;
  /** Where the service demands App Check: `async () => (await getToken(appCheck)).token`. */
  getAppCheckToken?: () => Promise<string>;
}

export interface Conversation {
  id: string;
  title?: string;
  updateTime: string;
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

/** A refusal: decide by `reason`, show `message`. */
export class RecapError extends Error {
  readonly code: number;
  readonly reason: string | undefined;
  constructor(code: number, body: string) {
    let error: { message: string; details?: { reason?: string }[] } = { message: `HTTP ${code}` };
    try {
      error = JSON.parse(body).error;
    } catch {
      // no answer of the API, but a page of a proxy in between
    }
    super(error.message);
    this.code = code;
    this.reason = error.details?.[0]?.reason;
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
    const { baseUrl, getIdToken, getAppCheckToken } = this.#backend;
    const response = await fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await getIdToken()}`,
        ...(getAppCheckToken && { 'x-firebase-appcheck': await getAppCheckToken() }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new RecapError(response.status, text);
    return JSON.parse(text || 'null');
  }

  /** The newest first; go on with `nextPageToken`. */
  listConversations(pageToken?: string) {
    return this.call<{ conversations: Conversation[]; nextPageToken?: string }>(
      'GET',
      `/conversations${pageQuery(pageToken)}`,
    );
  }

  /** The newest first, replaced ones too (`inContext: false`); go on with `nextPageToken`. */
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
    const put = await fetch(url, { method, headers, body: file });
    // 412: an earlier try of this PUT has brought the file.
    if (!put.ok && put.status !== 412) throw new RecapError(put.status, await put.text());
    return { type: 'file', uploadId };
  }
}
