import { EventSource } from 'eventsource';
import { ReactNativeEventSource } from '#test/support/wire/react-native-sse.ts';
import type { Place, Row } from '../columns.ts';
import { post, take, textOfChunks, type Chunk, type Following } from './native-stream.ts';
import { streamRow, type StreamReader } from './stream-row.ts';

const authorization = ({ token }: Place) => ({ authorization: `Bearer ${token}` });

/** react-native-sse sends bodies, too. */
function nativeSource(place: Place, path: string, body?: object): Following {
  const chunks: Chunk[] = [];
  const ended = Promise.withResolvers<void>();
  const source = new ReactNativeEventSource(`${place.url}/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...authorization(place),
      accept: 'text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    pollingInterval: 0,
    timeoutBeforeConnection: 0,
  });
  const end = (settle: () => void) => {
    source.close();
    settle();
  };
  source.addEventListener('message', ({ data }) => {
    try {
      if (take(chunks, data ?? '')) end(ended.resolve);
    } catch (error) {
      end(() => ended.reject(error));
    }
  });
  source.addEventListener('error', (event) => {
    const text = event.type === 'timeout' ? 'timeout' : event.message;
    end(() => ended.reject(new Error(text)));
  });
  return {
    chunks,
    text: () => textOfChunks(chunks),
    done: ended.promise,
    close: () => source.close(),
  };
}

const reactNative: StreamReader = {
  post: (place, path, body) => Promise.resolve(nativeSource(place, path, body)),
  follow: (place, path) => Promise.resolve(nativeSource(place, path)),
};

/** An EventSource only reads: what began the turn was posted with `fetch`. */
function follow(place: Place, path: string): Following {
  const chunks: Chunk[] = [];
  const ended = Promise.withResolvers<void>();
  const source = new EventSource(`${place.url}/v1${path}`, {
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...init.headers, ...authorization(place) } }),
  });
  const end = (settle: () => void) => {
    source.close();
    settle();
  };
  source.addEventListener('message', ({ data }) => {
    try {
      if (take(chunks, data)) end(ended.resolve);
    } catch (error) {
      end(() => ended.reject(error));
    }
  });
  source.addEventListener('error', ({ code, message }) => {
    // Without a code it connects again by itself; 204 is the end of a turn that has ended.
    if (code === 204) end(ended.resolve);
    else if (code !== undefined) end(() => ended.reject(new Error(message)));
  });
  return {
    chunks,
    text: () => textOfChunks(chunks),
    done: ended.promise,
    close: () => source.close(),
  };
}

const eventSource: StreamReader = {
  post: async (place, path, body) => {
    const response = await post(place, path, body);
    const { turnId } = await firstMetadata(response);
    await response.body?.cancel().catch(() => undefined);
    const conversation = /^\/conversations\/[^/]+/u.exec(path)?.[0] ?? '';
    return follow(place, `${conversation}/turns/${turnId}/stream`);
  },
  follow: (place, path) => Promise.resolve(follow(place, path)),
};

/** The turn that a posted message has begun, from the first event of its stream. */
async function firstMetadata(response: Response): Promise<{ turnId: string }> {
  let text = '';
  const decoder = new TextDecoder();
  if (response.body === null) throw new Error('the stream is empty');
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: true });
    const turnId = /"turnId":"(t_\d+)"/u.exec(text)?.[1];
    if (turnId !== undefined) {
      await reader.cancel();
      return { turnId };
    }
    if (done) throw new Error(/"errorText":"([^"]*)"/u.exec(text)?.[1] ?? 'no turn was begun');
  }
}

export const rows: Readonly<Record<string, Row>> = {
  'react-native-sse': streamRow(reactNative),
  eventsource: streamRow(eventSource),
};
