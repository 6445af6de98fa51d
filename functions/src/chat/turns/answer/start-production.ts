import { firstFrameId } from '#shared/wire/frame-ids.ts';
import { collapseFrames, type StreamFrame } from '#shared/wire/resources/streams.ts';
import { readFramesAfter } from '#shared/conversation/documents/stored-frames.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import {
  createSubscribers,
  createFrameLog,
  liveTurnKey,
  type Abandoned,
  type FrameLog,
  type LiveTurn,
  type Reading,
} from '../live/live-turn.ts';
import { followFrames } from '../stream/follow-frames.ts';
import { produceTurn } from './produce-turn.ts';
import { chainIterators } from '#functions/lib/async-iterators.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import type { SendRequest } from '../send/send-request.ts';

type Frames = AsyncIterableIterator<StreamFrame, Abandoned | undefined>;

interface ReadTurn {
  begun: BegunTurn;
  locale: string | undefined;
  log: FrameLog;
}

/** The frames of the log; when another instance has taken the turn over, those of its attempt too. */
function readLog(
  dependencies: ChatDependencies,
  { begun, locale, log }: ReadTurn,
  { reading, left }: { reading: Reading; left: AbortSignal | undefined },
): Frames {
  const { conversationId, seq } = begun.attempt;
  return chainIterators(log.frames(reading), ({ end, cursor }) =>
    end === 'finished'
      ? undefined
      : followFrames(dependencies, { conversationId, seq, cursor, locale, left }),
  );
}

/**
 * The same for a turn that goes on after a pause: who comes without a cursor, or with one from before it, gets
 * what was stored then first. The one whose request made the turn go on has all of that.
 */
function readAcrossPause(
  dependencies: ChatDependencies,
  turn: ReadTurn,
  { reading, left }: { reading: Reading; left: AbortSignal | undefined },
): Frames {
  const { attempt, progress } = turn.begun;
  const { nextFrameId, isResumed } = progress;
  const from = reading.kind === 'after' ? reading.id : firstFrameId(attempt.attempt) - 1;
  if (!isResumed || reading.kind === 'all' || from >= nextFrameId - 1)
    return readLog(dependencies, turn, { reading, left });
  async function* storedFrames(): AsyncGenerator<StreamFrame, void> {
    const before = await readFramesAfter(dependencies.store, attempt, from);
    const known = (before ?? []).filter(({ id }) => id < nextFrameId);
    yield* reading.kind === 'collapsed' ? collapseFrames(known) : known;
  }
  const rest = { kind: 'after' as const, id: nextFrameId - 1 };
  return chainIterators(storedFrames(), () => readLog(dependencies, turn, { reading: rest, left }));
}

/** Answers a turn that was begun here; whoever reads may come and go. */
export function startProduction(
  dependencies: ChatDependencies,
  { message, locale }: SendRequest,
  begun: BegunTurn,
): LiveTurn {
  const { conversationId, seq, attempt } = begun.attempt;
  const key = liveTurnKey(conversationId, seq);
  const log = createFrameLog(begun.progress.nextFrameId);
  const audience = createSubscribers();
  const cancelled = new AbortController();
  const givenUp = new AbortController();
  const result = produceTurn(dependencies, {
    begun,
    messageId: message.id,
    locale,
    log,
    audience,
    cancelled,
    givenUp: givenUp.signal,
  }).finally(() => {
    if (dependencies.liveTurns.get(key) === live) dependencies.liveTurns.delete(key);
  });
  const live: LiveTurn = {
    attempt,
    frames: (reading, left) =>
      readAcrossPause(dependencies, { begun, locale, log }, { reading, left }),
    subscribe: (left) => audience.subscribe(left),
    isRead: () => audience.present().length > 0,
    lastId: () => log.lastId(),
    result: ignoreRejection(result),
    cancel: () => cancelled.abort(),
    giveUp: () => givenUp.abort(),
  };
  dependencies.liveTurns.set(key, live);
  return live;
}
