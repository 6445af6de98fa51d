import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { Abandoned } from '../live/live-turn.ts';
import type { SendRequest } from '../send/send-request.ts';
import { followFrames } from './follow-frames.ts';

/** Frames on their way from one who follows to one who reads: the first can go on when the second left. */
function createRelay() {
  const frames: StreamFrame[] = [];
  let end: { error?: unknown } | undefined;
  let change = Promise.withResolvers<void>();
  const signal = () => {
    change.resolve();
    change = Promise.withResolvers<void>();
  };
  return {
    put: (frame: StreamFrame) => {
      frames.push(frame);
      signal();
    },
    end: (ended: { error?: unknown }) => {
      end ??= ended;
      signal();
    },
    async *frames(): AsyncGenerator<StreamFrame> {
      for (let next = 0; ;) {
        const changed = change.promise;
        for (let frame = frames[next]; frame !== undefined; frame = frames[++next]) yield frame;
        if (next < frames.length) continue;
        if (end && 'error' in end) throw end.error;
        if (end) return;
        await changed;
      }
    },
  };
}

/**
 * Follows a turn that another instance holds: gives its frames as they are stored, to its end or until that
 * instance has gone silent. It goes on when its reader leaves.
 */
export function followTurn(
  dependencies: ChatDependencies,
  { conversationId, cursor, locale }: SendRequest,
  seq: number,
): { frames: () => AsyncGenerator<StreamFrame>; end: Promise<Abandoned | undefined> } {
  const relay = createRelay();
  const follow = async (): Promise<Abandoned | undefined> => {
    const frames = followFrames(dependencies, { conversationId, seq, cursor, locale });
    let next = await frames.next();
    for (; !next.done; next = await frames.next()) relay.put(next.value);
    relay.end({});
    return next.value;
  };
  const end = follow();
  end.catch((error: unknown) => relay.end({ error }));
  return { frames: () => relay.frames(), end };
}
