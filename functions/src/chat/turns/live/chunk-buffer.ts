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

/** The next chunk of a stream, up to frame `lastId`. */
interface NextChunk {
  write: Write;
  lastId: number;
}

/** How many of `frames` fit one chunk document; a frame alone always does (see DELTA_MAX_CHARACTERS). */
function countOfNextChunk(frames: readonly SizedFrame[]): number {
  let bytes = 0;
  const tooMany = frames.findIndex((frame) => (bytes += frame.bytes) > CHUNK_MAX_BYTES);
  return tooMany === -1 ? frames.length : Math.max(1, tooMany);
}

/** Frames of one attempt that are not known to be stored, and the chunks that they become. */
export interface ChunkBuffer {
  add(frame: StreamFrame): void;
  /** JSON bytes that wait. */
  pendingBytes(): number;
  /** The chunk that the oldest pending frames make, the same one until it is stored; undefined when none waits. */
  next(now: Date): NextChunk | undefined;
  /** The write of a chunk that was begun and is not known to be stored. */
  begun(): Write | undefined;
  /** The chunk that was begun is stored. */
  stored(): void;
  /** All that waits, none of it begun, with the closing frames behind it; the last chunk says which end it is. */
  last(closing: readonly StreamFrame[], at: { end: StreamEnd; now: Date }): Write[];
}

const sized = (frame: StreamFrame): SizedFrame => ({ frame, bytes: frameBytes(frame) });

const chunkWrite = (
  { conversationId, seq, attempt, producer }: BufferedAttempt,
  frames: readonly SizedFrame[],
  chunk: { end: StreamEnd | undefined; now: Date },
): Write =>
  streamChunkWrite({
    ...chunk,
    conversationId,
    seq,
    attempt,
    producer,
    frames: frames.map(({ frame }) => frame),
  });

export function createChunkBuffer(own: BufferedAttempt): ChunkBuffer {
  let pending: SizedFrame[] = [];
  let bytes = 0;
  let begun: NextChunk | undefined;
  return {
    add: (frame) => {
      const added = sized(frame);
      pending.push(added);
      bytes += added.bytes;
    },
    pendingBytes: () => bytes,
    next: (now) => {
      if (begun) return begun;
      const frames = pending.slice(0, countOfNextChunk(pending));
      const lastId = frames.at(-1)?.frame.id;
      if (lastId === undefined) return undefined;
      begun = { write: chunkWrite(own, frames, { end: undefined, now }), lastId };
      return begun;
    },
    begun: () => begun?.write,
    stored: () => {
      const { lastId = -1 } = begun ?? {};
      begun = undefined;
      pending = pending.filter(({ frame }) => frame.id > lastId);
      bytes = pending.reduce((sum, frame) => sum + frame.bytes, 0);
    },
    last: (closing, { end, now }) => {
      let rest = [...pending, ...closing.map(sized)];
      const writes: Write[] = [];
      while (rest.length > 0) {
        const count = countOfNextChunk(rest);
        const isLast = count === rest.length;
        const frames = rest.slice(0, count);
        writes.push(chunkWrite(own, frames, { end: isLast ? end : undefined, now }));
        rest = rest.slice(count);
      }
      return writes;
    },
  };
}
