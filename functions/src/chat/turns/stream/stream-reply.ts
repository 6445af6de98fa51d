import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { Reply, RouteDependencies, StreamReader } from '#functions/chat/route.ts';
import type { OwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { sseText, STREAM_HEADERS, type WrittenFrame } from '#functions/chat/http/sse.ts';

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
