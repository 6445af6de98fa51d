import { answerView, userMessageView } from '#shared/wire/resources/messages.ts';
import { turnView, usageView } from '#shared/wire/resources/turns.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { WrittenFrame } from '#functions/chat/http/sse.ts';
import type { FinishedTurn } from '#functions/chat/turns/live/live-turn.ts';
import { wantsStream } from '#functions/chat/http/headers.ts';
import type { Reply, RouteDependencies, StreamReader } from '#functions/chat/route.ts';
import type { SendHandle } from '#functions/chat/turns/send/send-request.ts';
import { streamReply } from '#functions/chat/turns/stream/stream-reply.ts';

/** A finished turn as one JSON. */
export const turnBody = ({ turn, context, replayed, shrinkage }: FinishedTurn) => ({
  turn: turnView(turn),
  userMessage: userMessageView(turn),
  message: answerView(turn),
  context,
  usage: turn.usage ? usageView(turn.usage) : null,
  replayed,
  ...(shrinkage && { shrunken: shrinkage }),
});

const jsonReply = async (handle: SendHandle): Promise<Reply> => ({
  kind: 'json',
  headers: { 'x-turn-id': handle.turnId },
  body: turnBody(await handle.result),
});

interface Answered {
  accept: string | undefined;
  left: AbortSignal;
  /** How a façade says the frames of a stream; default: as they are. */
  shownAs?: (
    frames: AsyncIterable<StreamFrame>,
    reader: StreamReader,
  ) => AsyncIterable<WrittenFrame>;
}

/**
 * The answer of a turn as the caller's Accept header asks for it: a stream, or one JSON when it has ended. The
 * caller counts as waiting for it until the connection closes (`left`).
 */
export const turnReply = async (
  dependencies: RouteDependencies,
  handle: SendHandle,
  { accept, left, shownAs = (frames) => frames }: Answered,
): Promise<Reply> => {
  handle.subscribe(left);
  return wantsStream(accept)
    ? streamReply(dependencies, {
        ...handle,
        frames: (reader) => shownAs(handle.frames(reader.left), reader),
        work: handle.result,
      })
    : jsonReply(handle);
};
