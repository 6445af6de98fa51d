import { wholeNumber } from '../fields.ts';
import { searchedResponse } from '../sources.ts';
import { contextObjectResponse } from './context-object.ts';
import { shrinkageResponse } from './context.ts';
import {
  finishReasonResponse,
  leftOutFilesResponse,
  loopResponse,
  routingResponse,
  turnUsageResponse,
} from './turns.ts';
import { z } from 'zod';

/** Id of the last event that a reader has; `-1` and fractions are no ids. */
export const cursorSchema = wholeNumber(
  15,
  'must be the id of an event, a whole number; leave it out to begin at the first',
);

export const streamQuery = z.strictObject({
  startingAfter: cursorSchema
    .optional()
    .describe('Continues a stream after this event; goes before the header Last-Event-ID.'),
});

/** Server-sent events; each `data` is a chunk of the AI SDK's UI message stream v1. */
export const streamResponse = z.string();

const generation = z.number().int();

const toolCallId = z.string().describe('t_{seq}_c{index}: calls of a turn are counted from 0.');

const providerExecuted = z
  .literal(true)
  .optional()
  .describe('The server runs this tool; the app has nothing to answer.');

/**
 * One event of an answer's stream as its `data`: a chunk of the AI SDK's UI message stream v1. Any type that is
 * not part of it crashes `ai` 5, 6 and 7, so what is ours travels as `data-*`. Clients skip types that they do not
 * know.
 */
export const streamChunkResponse = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('start'),
    messageId: z.string(),
    messageMetadata: z.object({
      turnId: z.string(),
      conversationId: z.string(),
      generation,
      replayed: z.boolean(),
      shrunken: shrinkageResponse.optional(),
    }),
  }),
  z.object({ type: z.literal('text-start'), id: z.string() }),
  z.object({ type: z.literal('text-delta'), id: z.string(), delta: z.string() }),
  z.object({ type: z.literal('text-end'), id: z.string() }),
  z
    .object({ type: z.literal('start-step') })
    .describe('Another call of the model begins, with what the tools gave.'),
  z.object({
    type: z.literal('tool-input-available'),
    toolCallId,
    toolName: z.string(),
    input: z.unknown().describe('The arguments; of a very large one its beginning.'),
    providerExecuted,
    dynamic: z.literal(true),
  }),
  z.object({
    type: z.literal('tool-output-available'),
    toolCallId,
    output: z.unknown().describe('What the tool gave; of a very large one its beginning.'),
    providerExecuted,
    dynamic: z.literal(true),
  }),
  z.object({
    type: z.literal('tool-output-error'),
    toolCallId,
    errorText: z.string(),
    providerExecuted,
    dynamic: z.literal(true),
  }),
  z
    .object({
      type: z.literal('source-url'),
      sourceId: z.string(),
      url: z.string(),
      title: z.string().optional(),
    })
    .describe('A page that the answer rests on; which words, the transcript tells (`spans`).'),
  z.object({
    type: z.literal('data-searched'),
    id: z.literal('searched'),
    data: searchedResponse,
  }),
  z.object({
    type: z.literal('data-context'),
    id: z.literal('ctx'),
    transient: z.literal(true),
    data: contextObjectResponse,
  }),
  z.object({
    type: z.literal('data-title'),
    id: z.literal('title'),
    transient: z.literal(true),
    data: z
      .object({ title: z.string() })
      .describe('The title that was made for the conversation; absent where it came later.'),
  }),
  z.object({
    type: z.literal('data-notice'),
    id: z.string(),
    data: z.discriminatedUnion('kind', [
      // The AI SDK keeps these notices in its message, each under an id of its own: `restarted-{n}`, or
      // `restarted-{n}-stored` for what goes beyond what is stored. What stands before the last no longer holds.
      z.object({
        kind: z.literal('restarted'),
        dropParts: z.array(z.string()).describe('Ids of text parts that no longer hold.'),
      }),
      z
        .object({ kind: z.literal('approval'), callId: z.string(), toolName: z.string() })
        .describe('A tool of the server waits until the user allows the call.'),
      z.object({ kind: z.literal('loop'), of: loopResponse }),
      z
        .object({ kind: z.literal('rounds'), limit: z.number().int() })
        .describe('The model asked for more rounds of tool calls than one answer may have.'),
      z.object({ kind: z.literal('files'), leftOutFiles: leftOutFilesResponse }),
    ]),
  }),
  z.object({ type: z.literal('error'), errorText: z.string() }),
  z.object({ type: z.literal('abort') }),
  z.object({
    type: z.literal('finish'),
    finishReason: finishReasonResponse,
    messageMetadata: z.object({
      usage: turnUsageResponse.optional(),
      routing: routingResponse.optional(),
      generation,
    }),
  }),
]);
export type StreamChunk = z.infer<typeof streamChunkResponse>;

/**
 * One event of the stream. Ids rise by one within an attempt at a turn; a collapsed replay skips those of
 * the deltas that it joined, a new attempt begins above all earlier ones (see frame-ids.ts).
 */
export interface StreamFrame {
  id: number;
  chunk: StreamChunk;
}

/** Two deltas of one part as one; undefined for any other pair. */
function joined(first: StreamFrame | undefined, second: StreamFrame): StreamFrame | undefined {
  if (first?.chunk.type !== 'text-delta' || second.chunk.type !== 'text-delta') return undefined;
  if (first.chunk.id !== second.chunk.id) return undefined;
  const delta = first.chunk.delta + second.chunk.delta;
  return { id: second.id, chunk: { ...second.chunk, delta } };
}

/**
 * The same stream in fewer frames: neighbouring deltas of a part become one, with the id of the last of
 * them, so that a reader goes on after it without a gap. Order, other frames and the joined text stay.
 */
export function collapseFrames(frames: readonly StreamFrame[]): StreamFrame[] {
  const collapsed: StreamFrame[] = [];
  for (const frame of frames) {
    const both = joined(collapsed.at(-1), frame);
    if (both) collapsed[collapsed.length - 1] = both;
    else collapsed.push(frame);
  }
  return collapsed;
}
