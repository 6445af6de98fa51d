import { turnId } from '#shared/conversation/documents/paths.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import type { SendHandle, SendRequest } from './send-request.ts';

/** A turn whose answer begins later: its readers wait, and the connection lives meanwhile. */
export function pendingHandle(
  request: SendRequest,
  turn: { seq: number; generation: number },
  next: Promise<SendHandle>,
): SendHandle {
  async function* frames(left?: AbortSignal): AsyncIterable<StreamFrame> {
    yield* (await next).frames(left);
  }
  return {
    turnId: turnId(turn.seq),
    conversationId: request.conversationId,
    generation: turn.generation,
    replayed: false,
    frames,
    subscribe: (left) =>
      void next.then(
        (handle) => handle.subscribe(left),
        () => undefined,
      ),
    result: ignoreRejection(next.then((handle) => handle.result)),
  };
}
