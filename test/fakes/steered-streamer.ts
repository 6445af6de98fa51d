import type { ModelChunk, ModelRequest, ModelStreamer, ModelUsage } from '#shared/ports/ports.ts';

/** One call of the model, as a test lets it speak. */
export interface SteeredCall {
  request: ModelRequest;
  signal: AbortSignal;
  say(text: string): void;
  /** Reports sources, as Google's tools give them. */
  ground(grounding: NonNullable<ModelChunk['grounding']>): void;
  end(usage?: ModelUsage): void;
  /** Ends with another reason than that all is said. */
  stop(finishReason: string): void;
  fail(error: Error): void;
}

function createCall(request: ModelRequest, signal: AbortSignal) {
  const chunks: ModelChunk[] = [];
  let end: { error?: Error } | undefined;
  let change = Promise.withResolvers<void>();
  const signalChange = () => {
    change.resolve();
    change = Promise.withResolvers<void>();
  };
  const put = (chunk: ModelChunk) => {
    chunks.push(chunk);
    signalChange();
  };
  const finish = (ended: { error?: Error }) => {
    end ??= ended;
    signalChange();
  };
  const call: SteeredCall = {
    request,
    signal,
    say: (text) => put({ parts: [{ text }] }),
    ground: (grounding) => put({ parts: [], grounding }),
    end: (usage) => {
      put({ parts: [], finishReason: 'STOP', ...(usage && { usage }) });
      finish({});
    },
    stop: (finishReason) => {
      put({ parts: [], finishReason });
      finish({});
    },
    fail: (error) => finish({ error }),
  };
  async function* stream(): AsyncGenerator<ModelChunk> {
    for (let next = 0; ;) {
      const changed = change.promise;
      for (let chunk = chunks[next]; chunk !== undefined; chunk = chunks[++next]) yield chunk;
      if (next < chunks.length) continue;
      if (end?.error) throw end.error;
      if (end) return;
      await changed;
    }
  }
  return { call, stream };
}

/** A model that says what the test tells it to, when the test tells it to; `call(n)` waits for call `n` (from 0). */
export function steeredStreamer() {
  const calls: SteeredCall[] = [];
  let change = Promise.withResolvers<void>();
  const model: ModelStreamer = {
    stream: (request, signal) => {
      const { call, stream } = createCall(request, signal);
      calls.push(call);
      change.resolve();
      change = Promise.withResolvers<void>();
      return stream();
    },
  };
  return {
    model,
    calls,
    call: async (n = 0): Promise<SteeredCall> => {
      for (;;) {
        const changed = change.promise;
        const call = calls[n];
        if (call) return call;
        await changed;
      }
    },
  };
}
