import { offline } from './error.ts';

export interface HttpRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Blob | undefined;
}

/** A reply whose head is there. All that returns a promise rejects with RecapError `OFFLINE` when the connection breaks. */
export interface Connection {
  code: number;
  header: (name: string) => string | null;
  /** The rest of its body, at once. */
  text(): Promise<string>;
  /** Its body as it comes; resolves when it has ended in good order. */
  read(onText: (text: string) => void): Promise<void>;
  close: () => void;
}

/** Ends a connection on which nothing came for too long, or that is wanted no more. */
function watchSilence(silenceMs: number, wanted: AbortSignal | undefined) {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  let timer = setTimeout(end, silenceMs);
  const stop = (): void => {
    clearTimeout(timer);
    wanted?.removeEventListener('abort', end);
  };
  ended.signal.addEventListener('abort', stop);
  if (wanted?.aborted) end();
  wanted?.addEventListener('abort', end);
  return {
    signal: ended.signal,
    end,
    stop,
    heard: (): void => {
      clearTimeout(timer);
      if (!ended.signal.aborted) timer = setTimeout(end, silenceMs);
    },
  };
}

type Watch = ReturnType<typeof watchSilence>;

/** What is used of XMLHttpRequest: not every platform has it, or its types. */
interface Xhr {
  readonly status: number;
  readonly readyState: number;
  readonly responseText: string;
  readonly upload: { addEventListener(type: string, listener: (sent: Sent) => void): void };
  addEventListener(type: string, listener: () => void): void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: string | Blob | null): void;
  abort(): void;
}

interface Sent {
  loaded: number;
  total: number;
}

const platform: { Date: unknown; XMLHttpRequest?: new () => Xhr } = globalThis;

async function connectByFetch(
  fetchIt: typeof fetch,
  { url, method, headers, body }: HttpRequest,
  watch: Watch,
): Promise<Connection> {
  const response = await fetchIt(url, { method, headers, body, signal: watch.signal });
  watch.heard();
  return {
    code: response.status,
    header: (name) => response.headers.get(name),
    text: () => response.text(),
    read: async (onText) => {
      const reader = response.body?.getReader();
      if (!reader) return onText(await response.text());
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        watch.heard();
        onText(decoder.decode(value, { stream: true }));
      }
    },
    close: watch.end,
  };
}

/** By XMLHttpRequest, which shows a body as it comes where fetch does not (React Native), and tells how much it has sent. */
function connectByXhr(
  Request: new () => Xhr,
  { url, method, headers, body }: HttpRequest,
  watch: Watch,
  onSent?: (share: number) => void,
): Promise<Connection> {
  const request = new Request();
  const ended = new Promise<void>((resolve, reject) => {
    request.addEventListener('load', () => resolve());
    for (const kind of ['error', 'abort', 'timeout'] as const)
      request.addEventListener(kind, () => reject(new Error(kind)));
  });
  // Whoever reads is told; nobody has to.
  ended.catch(() => undefined);
  watch.signal.addEventListener('abort', () => request.abort());
  let onProgress = watch.heard;
  request.addEventListener('progress', () => onProgress());
  if (onSent)
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      watch.heard();
      onSent(total > 0 ? loaded / total : 0);
    });
  request.open(method, url);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  const connection: Connection = {
    get code() {
      return request.status;
    },
    header: (name) => request.getResponseHeader(name),
    text: () => ended.then(() => request.responseText),
    read: async (onText) => {
      let length = 0;
      onProgress = () => {
        watch.heard();
        const text = request.responseText.slice(length);
        length += text.length;
        if (text !== '') onText(text);
      };
      onProgress();
      await ended;
      onProgress();
    },
    close: watch.end,
  };
  return new Promise((resolve, reject) => {
    ended.then(() => resolve(connection), reject);
    request.addEventListener('readystatechange', () => {
      if (request.readyState >= 2 && request.status > 0) resolve(connection);
    });
    request.send(body ?? null);
  });
}

/** Whether the fetch of this platform shows a body as it comes. */
const fetchStreams = (): boolean =>
  typeof ReadableStream !== 'undefined' &&
  typeof Response !== 'undefined' &&
  'body' in Response.prototype;

export interface ConnectOptions {
  fetch: typeof fetch | undefined;
  silenceMs: number;
  signal?: AbortSignal | undefined;
  /** Told which share of the body was sent, 0 to 1, where the platform knows. */
  onSent?: ((share: number) => void) | undefined;
}

/** Sends a request; resolves when the head of its reply is there. Rejects with RecapError `OFFLINE`. */
export async function connect(request: HttpRequest, options: ConnectOptions): Promise<Connection> {
  const watch = watchSilence(options.silenceMs, options.signal);
  const Request =
    options.fetch === undefined && (options.onSent !== undefined || !fetchStreams())
      ? platform.XMLHttpRequest
      : undefined;
  const broken = (error: unknown): never => {
    watch.end();
    throw offline(error);
  };
  const connection = await (
    Request
      ? connectByXhr(Request, request, watch, options.onSent)
      : connectByFetch(options.fetch ?? fetch, request, watch)
  ).catch(broken);
  return {
    ...connection,
    code: connection.code,
    text: () => connection.text().then((text) => (watch.stop(), text), broken),
    read: (onText) => connection.read(onText).then(watch.stop, broken),
  };
}
