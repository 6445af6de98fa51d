import type { DocumentStore } from '#shared/ports/ports.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { chunksCollection, chunksFrom, chunksPrefix } from './paths.ts';
import { readStreamChunk, type StreamChunkDocument } from './stream-chunk.ts';

/** Chunk documents that one read asks for: 5 MiB if all are as large as can be. */
const CHUNK_PAGE = 20;

type Store = Pick<DocumentStore, 'query'>;

interface StoredAttempt {
  conversationId: string;
  seq: number;
  attempt: number;
}

/** The chunks of an attempt that hold frame `fromId` or later ones, in order; those that cannot be read are left out. */
async function* readChunksFrom(
  store: Store,
  attempt: StoredAttempt,
  fromId: number,
): AsyncGenerator<StreamChunkDocument, void> {
  const collection = chunksCollection(attempt.conversationId, attempt.seq);
  const prefix = chunksPrefix(attempt);
  for (let path = chunksFrom(attempt, fromId); ;) {
    const documents = await store.query({ collection, limit: CHUNK_PAGE, startAfter: { path } });
    const chunks = documents.filter((document) => document.path.startsWith(prefix));
    for (const document of chunks) {
      const chunk = readStreamChunk(document);
      if (chunk) yield chunk;
    }
    const last = chunks.at(-1);
    if (!last || chunks.length < CHUNK_PAGE) return;
    path = last.path;
  }
}

/**
 * The frames of an attempt after id `afterId` as far as they are stored, perhaps none; a reader who missed little costs
 * little. `undefined` when one in between is gone.
 */
export async function readFramesAfter(
  store: Store,
  attempt: StoredAttempt,
  afterId: number,
): Promise<StreamFrame[] | undefined> {
  const frames: StreamFrame[] = [];
  let nextId = afterId + 1;
  for await (const chunk of readChunksFrom(store, attempt, nextId)) {
    if (chunk.firstId > nextId) return undefined;
    frames.push(...chunk.frames.filter(({ id }) => id >= nextId));
    nextId = chunk.lastId + 1;
  }
  return frames;
}
