import type { Shrinkage } from '#shared/conversation/context/sent-view.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { cursorPlace } from '#shared/conversation/frame-ids.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import {
  type StreamChunk,
  type StreamFrame,
  collapseFrames,
} from '#shared/wire/resources/streams.ts';
import { shuttingDownError } from '../turn-errors.ts';

export interface FinishedTurn {
  turn: Turn;
  context: ContextObject;
  replayed: boolean;
  /** What its prompt left out; unknown of a turn that another instance answered. */
  shrinkage?: Shrinkage | undefined;
}

/** From where a reader reads: every frame, those so far joined where they can be, or those after an id. */
export type Reading = { kind: 'all' } | { kind: 'collapsed' } | { kind: 'after'; id: number };

/**
 * How a reader with this cursor, or none, reads an attempt. One from a later attempt is not believed, nor
 * one behind the last frame that there is, where that is known.
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

/**
 * Why no frame comes any more: the turn has ended, the process gives it up, or another instance has taken
 * it over and goes on.
 */
type LogEnd = 'finished' | 'givenUp' | 'lost';

/** A turn that nobody answers any more, for one who has its frames up to `cursor`: its message is to be sent again. */
export interface Abandoned {
  cursor: number | undefined;
}

/** A turn as its producer and its readers in this process share it. */
export interface LiveTurn {
  attempt: number;
  /**
   * What was emitted as `reading` says, then live, and when another instance has taken the turn over, what that one
   * emits; any number of readers, each until it has `left`.
   */
  frames(
    reading: Reading,
    left?: AbortSignal,
  ): AsyncIterableIterator<StreamFrame, Abandoned | undefined>;
  /** Says that somebody waits for the answer until their connection closes (`left`). */
  subscribe(left: AbortSignal): void;
  /** Whether somebody waits for it. */
  isRead(): boolean;
  /** Id of the last frame that was emitted here; below the first one of the attempt when there is none. */
  lastId(): number;
  /** How the answer ends here; rejects with TURN_TAKEN_OVER when another instance goes on with it. */
  result: Promise<FinishedTurn>;
  /** Stops the model; the turn ends as cancelled with what was said so far. */
  cancel(): void;
  /** Stops the model and leaves the turn to whoever sends its message again. */
  giveUp(): void;
}

/** Live turns of this instance by `{conversationId}/{seq}`. */
export type LiveTurns = Map<string, LiveTurn>;

/** The turns of a conversation that this instance answers: one, but for a moment when one follows another. */
export function liveSeqs(liveTurns: LiveTurns, conversationId: string): number[] {
  const start = `${conversationId}/`;
  return [...liveTurns.keys()]
    .filter((key) => key.startsWith(start))
    .map((key) => Number(key.slice(start.length)));
}

export const liveTurnKey = (conversationId: string, seq: number) => `${conversationId}/${seq}`;

/** The frames of one attempt as they come: bounded by the answer itself, dropped with the turn. */
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

/** Who waits for the answer of a turn, by their connections. */
export interface Subscribers {
  /** Counts a connection until it is closed, which `left` tells. */
  subscribe(left: AbortSignal): void;
  /** The connections that are open. */
  present(): readonly AbortSignal[];
}

/**
 * Nobody yet. A phone that fell off the net counts until its connection is closed, which the platform in
 * front notices late.
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
