import {
  CHUNK_MAX_BYTES,
  frameBytes,
  streamChunkWrite,
  type StreamEnd,
} from '#shared/conversation/documents/stream-chunk.ts';
import type { Write } from '#shared/ports/ports.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';

interface SizedFrame {
  frame: StreamFrame;
  bytes: number;
}

interface BufferedAttempt {
  conversationId: string;
  seq: number;
  attempt: number;
  producer: string;
}

/** How many of `frames` fit one chunk document; a frame alone always does (see DELTA_MAX_CHARACTERS). */
function countOfNextChunk(frames: readonly SizedFrame[]): number {
  let bytes = 0;
  const tooMany = frames.findIndex((frame) => (bytes += frame.bytes) > CHUNK_MAX_BYTES);
  return tooMany === -1 ? frames.length : Math.max(1, tooMany);
}

/** Frames of one attempt that are not stored yet, and the chunks that they become. */
export interface ChunkBuffer {
  add(frame: StreamFrame): void;
  /** JSON bytes that wait. */
  pendingBytes(): number;
  /** Chunks that are stored. */
  storedCount(): number;
  /** The chunk that the oldest pending frames make; undefined when none waits. */
  next(now: Date): { write: Write; n: number; lastId: number } | undefined;
  /** Chunk `n` up to frame `lastId` is stored. */
  stored(chunk: { n: number; lastId: number }): void;
  /** All that waits, with the closing frames behind it; the last chunk says which end it is. */
  last(
    closing: readonly StreamFrame[],
    at: { end: StreamEnd; now: Date },
  ): { writes: Write[]; chunks: number };
}

const sized = (frame: StreamFrame): SizedFrame => ({ frame, bytes: frameBytes(frame) });

const chunkWrite = (
  { conversationId, seq, attempt, producer }: BufferedAttempt,
  frames: readonly SizedFrame[],
  chunk: { n: number; end: StreamEnd | undefined; now: Date },
): Write =>
  streamChunkWrite({
    ...chunk,
    conversationId,
    seq,
    attempt,
    producer,
    frames: frames.map(({ frame }) => frame),
  });

/** `storedBefore`: chunks of the attempt that stand in the store already. */
export function createChunkBuffer(own: BufferedAttempt, storedBefore = 0): ChunkBuffer {
  let pending: SizedFrame[] = [];
  let bytes = 0;
  let stored = storedBefore;
  return {
    add: (frame) => {
      const added = sized(frame);
      pending.push(added);
      bytes += added.bytes;
    },
    pendingBytes: () => bytes,
    storedCount: () => stored,
    next: (now) => {
      const frames = pending.slice(0, countOfNextChunk(pending));
      const lastId = frames.at(-1)?.frame.id;
      if (lastId === undefined) return undefined;
      const n = stored + 1;
      return { write: chunkWrite(own, frames, { n, end: undefined, now }), n, lastId };
    },
    stored: ({ n, lastId }) => {
      stored = n;
      pending = pending.filter(({ frame }) => frame.id > lastId);
      bytes = pending.reduce((sum, frame) => sum + frame.bytes, 0);
    },
    last: (closing, { end, now }) => {
      let rest = [...pending, ...closing.map(sized)];
      const writes: Write[] = [];
      while (rest.length > 0) {
        const count = countOfNextChunk(rest);
        const n = stored + writes.length + 1;
        const isLast = count === rest.length;
        const frames = rest.slice(0, count);
        writes.push(chunkWrite(own, frames, { n, end: isLast ? end : undefined, now }));
        rest = rest.slice(count);
      }
      return { writes, chunks: stored + writes.length };
    },
  };
}
