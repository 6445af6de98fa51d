import { createParser } from 'eventsource-parser';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { offline } from './api-error.ts';

/** One event of an answer. Those that tell of a broken stream have no id. */
export interface ReceivedFrame {
  id: number | undefined;
  chunk: StreamChunk;
}

/**
 * The events of a stream up to its `[DONE]`. Throws ApiError OFFLINE when the connection ends before that:
 * then the rest is to be asked for.
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  tell: (frame: ReceivedFrame) => void = () => undefined,
): AsyncGenerator<ReceivedFrame> {
  const received: ReceivedFrame[] = [];
  const end = { isSeen: false };
  const parser = createParser({
    onEvent: ({ id, data }) => {
      if (data === '[DONE]') end.isSeen = true;
      else received.push({ id: id ? Number(id) : undefined, chunk: JSON.parse(data) });
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    while (!end.isSeen) {
      const { done, value } = await reader.read();
      if (done) break;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const frame of received.splice(0)) {
        tell(frame);
        yield frame;
      }
    }
  } catch (error) {
    throw offline(error);
  } finally {
    // Whoever stops reading hangs up; a cut connection has nothing to cancel.
    await reader.cancel().catch(() => undefined);
  }
  if (!end.isSeen) throw offline(new Error('the stream ended without [DONE]'));
}
