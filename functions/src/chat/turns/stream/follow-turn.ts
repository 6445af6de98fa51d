import { turnId } from '#shared/conversation/documents/paths.ts';
import type { StreamFrame } from '#shared/wire/stream.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { followFrames } from './follow-frames.ts';
import type { FinishedTurn } from '../live/live-turn.ts';
import { readFinished } from './read-finished.ts';
import { createSubscribers } from '../live/subscribers.ts';
import { orFailure } from './turn-failure.ts';
import { ignoreRejection } from '#functions/lib/ignore-rejection.ts';
import type { SendHandle, SendMessage, SendRequest } from '../send/send-request.ts';

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
 * Attaches to a turn that another instance holds: gives its frames as they are stored, and takes it
 * over when that instance has gone silent. It goes on when its reader leaves, who is let go: what it takes
 * over has to be answered.
 */
export function followTurn(
  dependencies: ChatDependencies,
  request: SendRequest,
  turn: { seq: number; generation: number; sendMessage: SendMessage },
): SendHandle {
  const { conversationId, cursor, locale } = request;
  const { seq } = turn;
  const relay = createRelay();
  const audience = createSubscribers();
  const sendAgain = async (lastId: number | undefined) => {
    const handle = await turn.sendMessage(dependencies, { ...request, cursor: lastId });
    // Whoever waits here waits for what this instance has taken over.
    for (const left of audience.present()) handle.attend(left);
    return handle;
  };
  const follow = async (): Promise<FinishedTurn> => {
    const frames = followFrames(dependencies, { conversationId, seq, cursor, locale, sendAgain });
    let next = await frames.next();
    for (; !next.done; next = await frames.next()) relay.put(next.value);
    relay.end({});
    const handle = next.value;
    if (handle) return handle.result;
    const finished = await readFinished(dependencies, { conversationId, seq, locale });
    // It failed for now and is asked again already: the answer is that of the next attempt.
    return finished ? orFailure(finished) : (await sendAgain(undefined)).result;
  };
  const result = follow();
  result.catch((error: unknown) => relay.end({ error }));
  return {
    turnId: turnId(seq),
    conversationId,
    generation: turn.generation,
    replayed: true,
    frames: () => relay.frames(),
    attend: (left) => audience.attend(left),
    result: ignoreRejection(result),
  };
}
