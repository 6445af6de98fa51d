import { AppError } from '#shared/lib/errors.ts';
import { singleLineJson } from '#shared/lib/json-text.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { StreamCutError } from '../turns/turn-errors.ts';
import { EVENT_HEADERS } from './headers.ts';
import { HEARTBEAT_DUE, withHeartbeats, type HeartbeatOptions } from './heartbeat.ts';

/** A comment: EventSource parsers drop it, proxies and phones see that the connection lives. */
const HEARTBEAT = ': keep-alive\n\n';
const DONE = 'data: [DONE]\n\n';

/** Headers of a stream of our own; the AI SDK knows its protocol by name. */
export const STREAM_HEADERS = {
  ...EVENT_HEADERS,
  'x-vercel-ai-ui-message-stream': 'v1',
} as const;

/** A frame as it is written, in whatever words its reader knows. */
export interface WrittenFrame {
  id: number;
  chunk: { type: string };
}

/** One event. JSON without line breaks keeps `data:` on a single line whatever the text holds. */
const frameText = ({ id, chunk }: WrittenFrame) => `id: ${id}\ndata: ${singleLineJson(chunk)}\n\n`;

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
  return chunks.map((chunk) => `data: ${singleLineJson(chunk)}\n\n`).join('');
}

interface SseOptions extends HeartbeatOptions {
  /** For the finish frame of a stream that broke. */
  generation: number;
}

/**
 * The text of an event stream: frames in the order they come, a comment in every silence, `[DONE]` at
 * the end. It is pulled, so a slow reader slows it down; whoever stops reading stops only this text, not
 * the turn behind it, and one that leaves in silence too (`left`). Frames that break end in `error` and
 * `finish`. Throws StreamCutError for frames that are cut: the transfer has to break off, because to a
 * client an orderly end is the end of the answer, and this reader shall come back.
 */
export async function* sseText(
  frames: AsyncIterable<WrittenFrame>,
  options: SseOptions,
): AsyncGenerator<string> {
  try {
    for await (const next of withHeartbeats(frames, options))
      yield next === HEARTBEAT_DUE ? HEARTBEAT : frameText(next);
  } catch (error) {
    if (error instanceof StreamCutError) throw error;
    yield brokenText(error, options.generation);
  }
  if (options.left.aborted) return;
  yield DONE;
}
