import type { StreamChunkDocument } from '#shared/conversation/documents/stream-chunk.ts';
import { collapseFrames, type StreamFrame } from '#shared/wire/resources/streams.ts';
import { openReading } from '../live/live-turn.ts';

/** The chunks of one attempt as a watch tells of them: late, twice or out of order. */
export interface ChunkOrder {
  attempt: number;
  /** A chunk that was seen; those of other attempts tell only that there is one. */
  put(chunk: StreamChunkDocument): void;
  /** The frames that are next, each once; the first ones collapsed for a reader without a cursor. */
  take(): StreamFrame[];
  /** A chunk that is missing before one that was seen. */
  missing(): number | undefined;
  /** Id of the last frame that was taken; before that, the cursor with which the reader came. */
  cursor(): number | undefined;
  /** The reader came with a cursor behind all that there has been: it was given nothing. */
  isAhead(): boolean;
  /** The final chunk has been taken. */
  isEnded(): boolean;
  /** The turn waited for the app after the last chunk that was taken; said once. */
  takePause(): boolean;
  /** A later attempt has stored something. */
  isSuperseded(): boolean;
}

export function createChunkOrder(attempt: number, cursor: number | undefined): ChunkOrder {
  const seen = new Map<number, StreamChunkDocument>();
  const reading = openReading(cursor, { attempt });
  let lastId = reading.kind === 'after' ? reading.id : -1;
  let isFirst = reading.kind === 'collapsed';
  let nextN = 1;
  let ended = false;
  let superseded = false;
  let paused = false;
  let taken = cursor;
  let lastStoredId = -1;
  const isNew = ({ id }: StreamFrame) => id > lastId;
  /** The frames of the next chunks that are there. */
  const nextFrames = () => {
    const frames: StreamFrame[] = [];
    for (let chunk = seen.get(nextN); chunk; chunk = seen.get(nextN)) {
      seen.delete(nextN);
      nextN += 1;
      ended ||= chunk.final === true;
      paused = chunk.pause === true;
      frames.push(...chunk.frames.filter(isNew));
      lastStoredId = chunk.lastId;
      lastId = Math.max(lastId, chunk.lastId);
    }
    return frames;
  };
  return {
    attempt,
    put: (chunk) => {
      if (chunk.attempt > attempt) superseded = true;
      if (chunk.attempt === attempt && chunk.n >= nextN) seen.set(chunk.n, chunk);
    },
    take: () => {
      const frames = nextFrames();
      taken = frames.at(-1)?.id ?? taken;
      if (!isFirst || frames.length === 0) return frames;
      isFirst = false;
      return collapseFrames(frames);
    },
    missing: () => (seen.size > 0 ? nextN : undefined),
    cursor: () => taken,
    isAhead: () => reading.kind === 'after' && reading.id > lastStoredId,
    isEnded: () => ended,
    takePause: () => {
      const wasPaused = paused;
      paused = false;
      return wasPaused;
    },
    isSuperseded: () => superseded,
  };
}
