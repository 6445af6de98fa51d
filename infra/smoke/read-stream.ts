import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import { SmokeFailure } from './run-steps.ts';
import { networkFailure } from './smoke-client.ts';

const chunkSchema = z.looseObject({
  type: z.string(),
  delta: z.string().optional(),
  messageMetadata: z.looseObject({ turnId: z.string().optional() }).optional(),
});

/** An answer as it came. */
export interface StreamRead {
  events: number;
  text: string;
  turnId: string;
  /** When each piece of text came, ms after `startedAt`. */
  textAtMs: number[];
  hasFailed: boolean;
}

/** Chat parts its frames by 40 ms; pieces that come closer than a quarter of it were held up on the way. */
const FRAME_GAP_MS = 40;
/** From fewer nothing can be told. */
export const FEWEST_PIECES = 4;

/** Whether something between chat and here keeps events back and hands them over at once. */
export function isBuffered(textAtMs: readonly number[]): boolean {
  const [first, last] = [textAtMs[0], textAtMs.at(-1)];
  if (first === undefined || last === undefined || textAtMs.length < FEWEST_PIECES) return false;
  return last - first < ((textAtMs.length - 1) * FRAME_GAP_MS) / 4;
}

/** Reads a stream to its end. Throws SmokeFailure for one that is none, is cut, or has no text. */
export async function readStream(
  response: Response,
  { tried, startedAt }: { tried: string; startedAt: number },
): Promise<StreamRead> {
  const type = response.headers.get('content-type') ?? 'no content type';
  if (!type.includes('text/event-stream') || response.body === null)
    throw new SmokeFailure({
      tried,
      came: `${type} in place of text/event-stream`,
      remedy:
        'Something between here and chat changes answers: a proxy or a gateway that takes no streams.',
    });
  const read: StreamRead = { events: 0, text: '', turnId: '', textAtMs: [], hasFailed: false };
  let isDone = false;
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  try {
    for await (const { id, data } of events) {
      if (id !== undefined) read.events += 1;
      if (data === '[DONE]') isDone = true;
      else take(read, chunkSchema.parse(JSON.parse(data)), performance.now() - startedAt);
    }
  } catch (error) {
    throw networkFailure(tried, error);
  }
  if (!isDone)
    throw new SmokeFailure({
      tried,
      came: `the stream ended after ${read.events} events without [DONE]`,
      remedy:
        'The connection was cut: Firebase Hosting ends answers after 60 s, Cloud Run after chat.timeout_seconds; or the instance ended (its log says so).',
    });
  return read;
}

function take(read: StreamRead, chunk: z.infer<typeof chunkSchema>, atMs: number): void {
  if (chunk.type === 'start') read.turnId = chunk.messageMetadata?.turnId ?? '';
  if (chunk.type === 'error') read.hasFailed = true;
  if (chunk.type !== 'text-delta' || chunk.delta === undefined) return;
  read.text += chunk.delta;
  read.textAtMs.push(atMs);
}
