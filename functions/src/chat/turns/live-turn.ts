import type { Shrinkage } from '#shared/conversation/context/sent-view.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { cursorPlace } from '#shared/conversation/frame-ids.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import {
  type StreamChunk,
  type StreamFrame,
  collapseFrames,
} from '#shared/wire/resources/streams.ts';
import { shuttingDownError } from './turn-errors.ts';

export interface FinishedTurn {
  turn: Turn;
  context: ContextObject;
  replayed: boolean;
  /** What its prompt left out; not known of a turn that another instance answered. */
  shrinkage?: Shrinkage | undefined;
}

/** What a reader gets: every frame, the frames so far joined where they can be, or the frames after an id. */
export type Reading = { kind: 'all' } | { kind: 'collapsed' } | { kind: 'after'; id: number };

/**
 * How a reader with this cursor, or none, reads an attempt. A cursor from a later attempt is ignored, and so is one
 * behind the last frame, where that is known.
 */
export const openReading = (
  cursor: number | undefined,
  { attempt, lastId }: { attempt: number; lastId?: number },
): Reading =>
  cursor !== undefined &&
  cursorPlace(cursor, attempt) === 'within' &&
  cursor <= (lastId ?? Number.POSITIVE_INFINITY)
    ? { kind: 'after', id: cursor }
    : { kind: 'collapsed' };

/** Why a log gets no more frames: the turn has ended, the process gave it up, or another producer has taken it over. */
type LogEnd = 'finished' | 'givenUp' | 'lost';

/** Where a reader stands in a turn that has no producer any more. */
export interface ResumePoint {
  cursor: number | undefined;
}

/** A turn as its producer and its readers in this process share it. */
export interface LiveTurn {
  attempt: number;
  /**
   * The frames so far as `reading` says, then each as it is emitted; after a take-over those of the other instance. For
   * any number of readers, each until it has `left`.
   */
  frames(
    reading: Reading,
    left?: AbortSignal,
  ): AsyncIterableIterator<StreamFrame, ResumePoint | undefined>;
  /** Counts a connection that waits for the answer until it closes (`left`). */
  subscribe(left: AbortSignal): void;
  /** Whether a connection waits for the answer. */
  isAwaited(): boolean;
  /** Id of the last frame that was emitted here; below the first one of the attempt when there is none. */
  lastId(): number;
  /** How the answer ends here; rejects with TURN_TAKEN_OVER when another instance goes on with it. */
  result: Promise<FinishedTurn>;
  /** Stops the model; the turn ends as cancelled with what was said so far. */
  cancel(): void;
  /** Stops the model and leaves the turn to the next send of its message. */
  giveUp(): void;
}

/** Live turns of this instance by `{conversationId}/{seq}`. */
export type LiveTurns = Map<string, LiveTurn>;

/** The turns of a conversation that this instance answers: at most one, but for the moment when the next one begins. */
export function liveSeqs(liveTurns: LiveTurns, conversationId: string): number[] {
  const start = `${conversationId}/`;
  return [...liveTurns.keys()]
    .filter((key) => key.startsWith(start))
    .map((key) => Number(key.slice(start.length)));
}

export const liveTurnKey = (conversationId: string, seq: number) => `${conversationId}/${seq}`;

/** The frames of one attempt. Kept in memory while this instance answers the turn; the answer bounds their size. */
export interface FrameLog {
  /** Gives the chunk the next id and tells the readers. */
  emit(chunk: StreamChunk): StreamFrame;
  /** The frames that chunks will be when they are emitted next. */
  preview(chunks: readonly StreamChunk[]): StreamFrame[];
  /** Id of the last frame; `firstId - 1` when there is none. */
  lastId(): number;
  /** No frame comes after this. */
  end(reason: LogEnd): void;
  /** Ends when the log is at its end. Throws StreamCutError. */
  frames(reading: Reading): AsyncGenerator<StreamFrame, LogEnding>;
}

/** A log that was read to its end. */
interface LogEnding {
  /** `lost`: another instance goes on. */
  end: Exclude<LogEnd, 'givenUp'>;
  /** Id of the last frame that the reader has, if any. */
  cursor: number | undefined;
}

/** A log whose first frame has the id `firstId`. */
export function createFrameLog(firstId = 0): FrameLog {
  const log: StreamFrame[] = [];
  let ended: LogEnd | undefined;
  /** Made by the first reader that waits. */
  let change: PromiseWithResolvers<void> | undefined;
  const signal = () => {
    change?.resolve();
    change = undefined;
  };
  const preview = (chunks: readonly StreamChunk[]) =>
    chunks.map((chunk, i) => ({ id: firstId + log.length + i, chunk }));

  async function* frames(reading: Reading) {
    let next = reading.kind === 'after' ? reading.id - firstId + 1 : 0;
    let cursor = reading.kind === 'after' ? reading.id : undefined;
    if (reading.kind === 'collapsed') {
      const known = collapseFrames(log.slice());
      next = log.length;
      cursor = known.at(-1)?.id;
      yield* known;
    }
    for (;;) {
      for (let frame = log[next]; frame !== undefined; frame = log[++next]) {
        cursor = frame.id;
        yield frame;
      }
      if (ended === 'givenUp') throw shuttingDownError('a stream was ended');
      if (ended !== undefined) return { end: ended, cursor };
      change ??= Promise.withResolvers();
      await change.promise;
    }
  }

  return {
    emit: (chunk) => {
      const frame = { id: firstId + log.length, chunk };
      log.push(frame);
      signal();
      return frame;
    },
    preview,
    lastId: () => firstId + log.length - 1,
    end: (reason) => {
      ended ??= reason;
      signal();
    },
    frames,
  };
}

/** The connections that wait for the answer of a turn. */
export interface Subscribers {
  /** Counts a connection until it is closed, which `left` tells. */
  subscribe(left: AbortSignal): void;
  /** The connections that are open. */
  present(): readonly AbortSignal[];
}

/**
 * No connection yet. A phone that lost its network counts until the platform in front closes its connection, which is
 * late.
 */
export function createSubscribers(): Subscribers {
  let known: readonly AbortSignal[] = [];
  const present = () => known.filter(({ aborted }) => !aborted);
  return {
    subscribe: (left) => {
      known = [...present(), left];
    },
    present,
  };
}
