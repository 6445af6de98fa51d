import { type Connection, type HttpRequest, type Watch, watchSilence } from './connection.ts';
import { offline } from './error.ts';
import { connectByXhr } from './xhr.ts';

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
      // Node 20 holds the connection of a body that is aborted but not cancelled.
      watch.signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined));
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
  /** Each says when the connection is wanted no more. */
  unwanted: readonly AbortSignal[];
  /** Told which share of the body was sent, 0 to 1, where the platform knows. */
  onSent?: ((share: number) => void) | undefined;
}

/** Sends a request; resolves when the head of its reply is there. Rejects with RecapError `OFFLINE`. */
export async function connect(request: HttpRequest, options: ConnectOptions): Promise<Connection> {
  const watch = watchSilence(options.silenceMs, options.unwanted);
  const isByXhr =
    options.fetch === undefined &&
    'XMLHttpRequest' in globalThis &&
    (options.onSent !== undefined || !fetchStreams());
  if (watch.signal.aborted) throw offline(new Error('nobody waits for the reply any more'));
  const broken = (error: unknown): never => {
    watch.end();
    throw offline(error);
  };
  const connecting = isByXhr
    ? connectByXhr(request, watch, options.onSent)
    : connectByFetch(options.fetch ?? fetch, request, watch);
  const connection = await connecting.catch(broken);
  // A body that is read while it is aborted may never say so (Node 20).
  const aborted = new Promise<never>((_, reject) => {
    watch.signal.addEventListener('abort', () =>
      reject(new Error('closed, or silent for too long')),
    );
  });
  aborted.catch(() => undefined);
  return {
    ...connection,
    code: connection.code,
    text: () => connection.text().then((text) => (watch.stop(), text), broken),
    read: (onText) => Promise.race([connection.read(onText), aborted]).then(watch.stop, broken),
  };
}
