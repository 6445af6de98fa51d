import type { StreamChunkDocument } from '#shared/conversation/documents/stream-chunk.ts';
import { firstFrameId } from '#shared/wire/frame-ids.ts';
import { collapseFrames, type StreamFrame } from '#shared/wire/resources/streams.ts';
import { openReading } from '../live/live-turn.ts';

/** The chunks of one attempt as a watch tells of them: twice or out of order. */
export interface ChunkOrder {
  attempt: number;
  /** A chunk that was seen; those of other attempts tell only that there is one. */
  put(chunk: StreamChunkDocument): void;
  /** The frames that are next, each once; the first ones collapsed for a reader without a cursor. */
  take(): StreamFrame[];
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
  /** Chunks with frames that the reader does not have. */
  let waiting: StreamChunkDocument[] = [];
  const reading = openReading(cursor, { attempt });
  let nextId = reading.kind === 'after' ? reading.id + 1 : firstFrameId(attempt);
  let isFirst = reading.kind === 'collapsed';
  /** Id of the last frame of the chunks that the reader has, as far as they were seen. */
  let passedId = -1;
  let ended = false;
  let superseded = false;
  let paused = false;
  let taken = cursor;
  const pass = ({ lastId, final, pause }: StreamChunkDocument) => {
    if (lastId <= passedId) return;
    passedId = lastId;
    ended = final === true;
    paused = pause === true;
  };
  /** The frames of the next chunks that are there. */
  const nextFrames = () => {
    const frames: StreamFrame[] = [];
    for (const chunk of waiting.toSorted((a, b) => a.firstId - b.firstId)) {
      if (chunk.firstId > nextId) break;
      frames.push(...chunk.frames.filter(({ id }) => id >= nextId));
      nextId = Math.max(nextId, chunk.lastId + 1);
      pass(chunk);
    }
    waiting = waiting.filter(({ lastId }) => lastId >= nextId);
    return frames;
  };
  return {
    attempt,
    put: (chunk) => {
      if (chunk.attempt > attempt) superseded = true;
      if (chunk.attempt !== attempt) return;
      if (chunk.lastId >= nextId) waiting.push(chunk);
      else pass(chunk);
    },
    take: () => {
      const frames = nextFrames();
      taken = frames.at(-1)?.id ?? taken;
      if (!isFirst || frames.length === 0) return frames;
      isFirst = false;
      return collapseFrames(frames);
    },
    cursor: () => taken,
    isAhead: () => reading.kind === 'after' && reading.id > passedId,
    isEnded: () => ended,
    takePause: () => {
      const wasPaused = paused;
      paused = false;
      return wasPaused;
    },
    isSuperseded: () => superseded,
  };
}
