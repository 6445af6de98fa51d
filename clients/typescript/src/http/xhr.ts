import type { Connection, HttpRequest, Watch } from './connection.ts';

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

/** By XMLHttpRequest, which shows a body as it comes where fetch does not (React Native), and tells how much it has sent. */
export function connectByXhr(
  { url, method, headers, body }: HttpRequest,
  watch: Watch,
  onSent?: (share: number) => void,
): Promise<Connection> {
  const { XMLHttpRequest: Request } = platform;
  if (!Request) throw new Error('there is no XMLHttpRequest');
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
