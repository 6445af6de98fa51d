import { badField } from '#shared/lib/errors.ts';
import type { RouteDependencies, Reply } from '#functions/chat/route.ts';
import type { StreamReader } from '#functions/chat/turns/stream/stream-turn.ts';
import type { OwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { STREAM_HEADERS, type WrittenFrame, sseText } from '#functions/chat/http/sse.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { cursorSchema } from '#shared/wire/resources/streams.ts';

/**
 * A turn's frames as an event stream. `work` is what must end before the request counts as served.
 */
export function streamReply(
  { clock, heartbeatMs }: Pick<RouteDependencies, 'clock' | 'heartbeatMs'>,
  stream: {
    turnId: string;
    generation: number;
    frames: (reader: StreamReader) => AsyncIterable<WrittenFrame>;
    work: Promise<unknown>;
  },
): Reply {
  const { generation, frames, work } = stream;
  return {
    kind: 'stream',
    headers: { ...STREAM_HEADERS, 'x-turn-id': stream.turnId },
    text: (reader) =>
      sseText(frames(reader), { clock, heartbeatMs, generation, left: reader.left }),
    work,
  };
}

/**
 * The stream of a turn that is answered without this reader. Where there is none 204: an EventSource stops
 * asking then, and the AI SDK has nothing to resume.
 */
export const readerReply = (
  dependencies: Pick<RouteDependencies, 'clock' | 'heartbeatMs'>,
  own: OwnConversation,
  found:
    | { turn: Turn; frames: (reader?: Partial<StreamReader>) => AsyncIterable<WrittenFrame> }
    | undefined,
): Reply =>
  found
    ? streamReply(dependencies, {
        turnId: turnId(found.turn.seq),
        generation: own.conversation.value.generation,
        frames: found.frames,
        work: Promise.resolve(),
      })
    : { kind: 'empty', status: 204 };

/**
 * After which frame a reader goes on: `?startingAfter`, else the header `Last-Event-ID` (an empty one is
 * none). Throws BAD_FIELD for a header that is no whole number.
 */
export function readCursor(request: {
  query: { startingAfter?: number | undefined };
  header: (name: string) => string | undefined;
}): number | undefined {
  if (request.query.startingAfter !== undefined) return request.query.startingAfter;
  const text = request.header('last-event-id')?.trim() ?? '';
  if (text === '') return undefined;
  const parsed = cursorSchema.safeParse(text);
  if (!parsed.success)
    throw badField(
      'Last-Event-ID',
      '`Last-Event-ID` must be the `id` of the last event that was received, a whole number. Leave it out to get the stream from its beginning.',
    );
  return parsed.data;
}
