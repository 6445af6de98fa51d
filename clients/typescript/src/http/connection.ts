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

/** Ends a connection on which nothing came for too long, or that is wanted no more: `unwanted` say so. */
export function watchSilence(silenceMs: number, unwanted: readonly AbortSignal[]) {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  let timer = setTimeout(end, silenceMs);
  const stop = (): void => {
    clearTimeout(timer);
    for (const signal of unwanted) signal.removeEventListener('abort', end);
  };
  ended.signal.addEventListener('abort', stop);
  for (const signal of unwanted) signal.addEventListener('abort', end);
  if (unwanted.some(({ aborted }) => aborted)) end();
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
