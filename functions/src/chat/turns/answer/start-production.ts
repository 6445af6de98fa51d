import { turnId } from '#shared/conversation/documents/paths.ts';
import { firstFrameId } from '#shared/wire/frame-ids.ts';
import { collapseFrames } from '#shared/wire/views/collapse-frames.ts';
import { readFramesAfter } from '#shared/conversation/documents/stored-frames.ts';
import type { StreamFrame } from '#shared/wire/stream.ts';
import type { BegunTurn } from '../start/begin-turn.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createSubscribers } from '../live/subscribers.ts';
import { followFrames } from '../stream/follow-frames.ts';
import {
  createFrameLog,
  liveTurnKey,
  openReading,
  type FinishedTurn,
  type FrameLog,
  type LiveTurn,
  type Reading,
} from '../live/live-turn.ts';
import { isTakenOver } from './taken-over.ts';
import { produceTurn } from './produce-turn.ts';
import { orFailure } from '../stream/turn-failure.ts';
import { ignoreRejection } from '#functions/lib/ignore-rejection.ts';
import type { SendHandle, SendMessage, SendRequest } from '../send/send-request.ts';

/** A turn that this instance is answering, as one who comes to it later gets it. */
export function liveHandle(
  request: SendRequest,
  live: LiveTurn,
  turn: { seq: number; generation: number },
): SendHandle {
  return handleOf(request, live, {
    ...turn,
    reading: openReading(request.cursor, { attempt: live.attempt, lastId: live.lastId() }),
  });
}

function handleOf(
  { conversationId }: SendRequest,
  live: LiveTurn,
  turn: { seq: number; generation: number; reading: Reading },
): SendHandle {
  return {
    turnId: turnId(turn.seq),
    conversationId,
    generation: turn.generation,
    replayed: false,
    frames: (left) => live.frames(turn.reading, left),
    attend: (left) => live.attend(left),
    result: ignoreRejection(live.outcome.then(orFailure)),
  };
}

/** The frames of the log; when another instance has taken the turn over, those of its attempt too. */
async function* framesOf(
  dependencies: ChatDependencies,
  { request, sendMessage }: Starting,
  input: { log: FrameLog; seq: number; reading: Reading; left: AbortSignal | undefined },
): AsyncGenerator<StreamFrame> {
  let cursor = input.reading.kind === 'after' ? input.reading.id : undefined;
  const frames = input.log.frames(input.reading);
  for (;;) {
    const next = await frames.next();
    if (next.done) {
      if (next.value === 'lost') break;
      return;
    }
    cursor = next.value.id;
    yield next.value;
  }
  const { conversationId, locale } = request;
  const { seq, left } = input;
  const sendAgain = (lastId: number | undefined) =>
    sendMessage(dependencies, { ...request, cursor: lastId });
  yield* followFrames(dependencies, { conversationId, seq, cursor, locale, left, sendAgain });
}

/**
 * The same for a turn that goes on after a pause: who comes without a cursor, or with one from before it, gets
 * what was stored then first. The one whose request made the turn go on has all of that.
 */
async function* framesAcrossPause(
  dependencies: ChatDependencies,
  starting: Starting,
  parameters: Parameters<typeof framesOf>[2] & { begun: BegunTurn },
): AsyncGenerator<StreamFrame> {
  const { begun, reading } = parameters;
  const { chunks, nextFrameId, isResumed } = begun.progress;
  const from = reading.kind === 'after' ? reading.id : firstFrameId(begun.attempt.attempt) - 1;
  if (!isResumed || reading.kind === 'all' || from >= nextFrameId - 1) {
    yield* framesOf(dependencies, starting, parameters);
    return;
  }
  const before = await readFramesAfter(dependencies.store, { ...begun.attempt, chunks }, from);
  const known = (before ?? []).filter(({ id }) => id < nextFrameId);
  yield* reading.kind === 'collapsed' ? collapseFrames(known) : known;
  const rest = { kind: 'after' as const, id: nextFrameId - 1 };
  yield* framesOf(dependencies, starting, { ...parameters, reading: rest });
}

interface Starting {
  request: SendRequest;
  sendMessage: SendMessage;
}

/** The end of the turn, from whoever has it now when it was lost to another instance, or to a cancellation. */
async function outcomeOf(
  dependencies: ChatDependencies,
  { request, sendMessage }: Starting,
  result: Promise<FinishedTurn>,
): Promise<FinishedTurn> {
  try {
    return await result;
  } catch (error) {
    if (!isTakenOver(error)) throw error;
  }
  return (await sendMessage(dependencies, { ...request, cursor: undefined })).result;
}

/** Answers a turn that was begun here; whoever reads may come and go. */
export function startProduction(
  dependencies: ChatDependencies,
  { begun, ...starting }: Starting & { begun: BegunTurn },
): SendHandle {
  const { request } = starting;
  const { conversationId, seq, attempt } = begun.attempt;
  const key = liveTurnKey(conversationId, seq);
  const log = createFrameLog(begun.progress.nextFrameId);
  const audience = createSubscribers();
  const cancelled = new AbortController();
  const givenUp = new AbortController();
  const result = produceTurn(dependencies, {
    begun,
    messageId: request.message.id,
    locale: request.locale,
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
      framesAcrossPause(dependencies, starting, { begun, log, seq, reading, left }),
    attend: (left) => audience.attend(left),
    lastId: () => log.lastId(),
    result: ignoreRejection(result),
    outcome: ignoreRejection(outcomeOf(dependencies, starting, result)),
    cancel: () => cancelled.abort(),
    giveUp: () => givenUp.abort(),
  };
  dependencies.liveTurns.set(key, live);
  const { generation } = begun.head;
  return handleOf(request, live, { seq, generation, reading: { kind: 'all' } });
}
