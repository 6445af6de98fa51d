import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { StreamEvent } from './stream-assembly.ts';

/** The events of a stream as they come. Throws when the connection is cut. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const events = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ onError: 'terminate' }));
  for await (const { id, data } of events)
    yield { id: id === undefined ? undefined : Number(id), data };
}
