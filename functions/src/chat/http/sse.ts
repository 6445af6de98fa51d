import { AppError } from '../../../../shared/errors.ts';
import type { Clock } from '../../../../shared/ports.ts';
import type { StreamChunk, StreamFrame } from '../../../../shared/wire/stream.ts';
import { StreamCutError } from '../stream/stream-cut.ts';

/** A comment: EventSource parsers drop it, proxies and phones see that the connection lives. */
const HEARTBEAT = ': keep-alive\n\n';
const DONE = 'data: [DONE]\n\n';

/**
 * Headers of a stream: no cache and no proxy may hold it back or compress it, and the AI SDK knows its
 * protocol by name.
 */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  'x-vercel-ai-ui-message-stream': 'v1',
} as const;

/** One event. JSON without line breaks keeps `data:` on a single line whatever the text holds. */
const frameText = ({ id, chunk }: StreamFrame) => `id: ${id}\ndata: ${JSON.stringify(chunk)}\n\n`;

/**
 * How a stream ends that broke: no reader may wait for a finish for ever. These events carry no id, because
 * they are none of the turn's frames: whoever resumes does so after the last frame that was.
 */
function brokenText(error: unknown, generation: number): string {
  const errorText =
    error instanceof AppError ? error.publicMessage : 'The stream broke. Send the message again.';
  const chunks: StreamChunk[] = [
    { type: 'error', errorText },
    { type: 'finish', finishReason: 'error', messageMetadata: { generation } },
  ];
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
}

interface SseOptions {
  clock: Pick<Clock, 'wait'>;
  /** Silence after which a comment is sent, ms. */
  heartbeatMs: number;
  /** For the finish frame of a stream that broke. */
  generation: number;
  /** Fires when the reader has left. */
  left: AbortSignal;
}

type Next = { result: IteratorResult<StreamFrame> } | { broken: unknown };

/** The next frame, or 'silence' when it does not come within the heartbeat interval or the reader leaves. */
async function nextOrSilence(next: Promise<Next>, options: SseOptions): Promise<Next | 'silence'> {
  const timer = new AbortController();
  const silence = options.clock
    .wait(options.heartbeatMs, AbortSignal.any([timer.signal, options.left]))
    .then(() => 'silence' as const);
  const first = await Promise.race([next, silence]);
  timer.abort();
  return first;
}

/**
 * The text of an event stream: frames in the order they come, a comment in every silence, `[DONE]` at
 * the end. It is pulled, so a slow reader slows it down; whoever stops reading stops only this text, not
 * the turn behind it, and one that leaves in silence too (`left`). Frames that break end in `error` and
 * `finish`. Throws StreamCutError for frames that are cut: the transfer has to break off, because to a
 * client an orderly end is the end of the answer, and this reader shall come back.
 */
export async function* sseText(
  frames: AsyncIterable<StreamFrame>,
  options: SseOptions,
): AsyncGenerator<string> {
  const iterator = frames[Symbol.asyncIterator]();
  const pull = (): Promise<Next> =>
    iterator.next().then(
      (result) => ({ result }),
      (error: unknown) => ({ broken: error }),
    );
  try {
    for (let next = pull(); ;) {
      const arrived = await nextOrSilence(next, options);
      if (options.left.aborted) return;
      if (arrived === 'silence') {
        yield HEARTBEAT;
        continue;
      }
      if ('broken' in arrived) {
        if (arrived.broken instanceof StreamCutError) throw arrived.broken;
        yield brokenText(arrived.broken, options.generation);
        break;
      }
      if (arrived.result.done) break;
      yield frameText(arrived.result.value);
      next = pull();
    }
    yield DONE;
  } finally {
    // The reader's own view of the frames is closed, the turn goes on. What waits for the next frame notices
    // when it comes; nobody waits for that.
    void iterator.return?.().catch(() => undefined);
  }
}
