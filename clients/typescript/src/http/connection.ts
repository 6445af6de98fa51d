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

export type Watch = ReturnType<typeof watchSilence>;

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
  const isByXhr =
    options.fetch === undefined &&
    'XMLHttpRequest' in globalThis &&
    (options.onSent !== undefined || !fetchStreams());
  const broken = (error: unknown): never => {
    watch.end();
    throw offline(error);
  };
  const connecting = isByXhr
    ? import('./xhr.ts').then(({ connectByXhr }) => connectByXhr(request, watch, options.onSent))
    : connectByFetch(options.fetch ?? fetch, request, watch);
  const connection = await connecting.catch(broken);
  return {
    ...connection,
    code: connection.code,
    text: () => connection.text().then((text) => (watch.stop(), text), broken),
    read: (onText) => connection.read(onText).then(watch.stop, broken),
  };
}
