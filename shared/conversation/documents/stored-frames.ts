import type { DocumentStore } from '#shared/ports/ports.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { chunkPath } from './paths.ts';
import { readStreamChunk, type StreamChunkDocument } from './stream-chunk.ts';

/** Chunk documents that one read asks for: 5 MiB if all are as large as can be. */
const CHUNK_PAGE = 20;

interface StoredAttempt {
  conversationId: string;
  seq: number;
  attempt: number;
}

/** Chunk `n` of an attempt, or undefined when it is not there. */
export async function readChunk(
  store: Pick<DocumentStore, 'get'>,
  storedAttempt: StoredAttempt,
  n: number,
): Promise<StreamChunkDocument | undefined> {
  const [document] = await store.get([
    chunkPath(storedAttempt, { attempt: storedAttempt.attempt, n }),
  ]);
  return document && readStreamChunk(document);
}

const chunkNumbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

/**
 * The frames after id `afterId` from the `chunks` chunk documents of an attempt, read from the end, so that
 * a reader who missed little costs little. `undefined` when one that is needed is gone.
 */
export async function readFramesAfter(
  store: Pick<DocumentStore, 'get'>,
  storedAttempt: StoredAttempt & { chunks: number },
  afterId: number,
): Promise<StreamFrame[] | undefined> {
  let frames: StreamFrame[] = [];
  for (let last = storedAttempt.chunks; last > 0; last -= CHUNK_PAGE) {
    const numbers = chunkNumbers(Math.max(1, last - CHUNK_PAGE + 1), last);
    const documents = await store.get(
      numbers.map((n) => chunkPath(storedAttempt, { attempt: storedAttempt.attempt, n })),
    );
    const found = documents.flatMap((document) => (document && readStreamChunk(document)) ?? []);
    const needed = found.filter(({ lastId }) => lastId > afterId);
    frames = [...needed.flatMap((chunk) => chunk.frames), ...frames];
    if ((frames[0]?.id ?? Number.POSITIVE_INFINITY) <= afterId + 1) break;
    if (found.length < numbers.length) return undefined;
  }
  const isWhole = frames.every(({ id }, i) => id === (frames[0]?.id ?? 0) + i);
  const reachesBack = (frames[0]?.id ?? Number.POSITIVE_INFINITY) <= afterId + 1;
  return isWhole && reachesBack ? frames.filter(({ id }) => id > afterId) : undefined;
}
