import type { StoredDocument, Write, DocumentStore } from '#shared/ports/ports.ts';
import type { StreamChunk, StreamFrame } from '#shared/wire/resources/streams.ts';
import {
  chunkPath,
  chunksCollection,
  chunksFrom,
  chunksPrefix,
} from '#shared/conversation/documents/paths.ts';
import { NewerDocumentError, refuseNewer } from '#shared/conversation/documents/read-document.ts';
import { z } from 'zod';

/** JSON of one chunk document, bytes of UTF-8: far below Firestore's 1 MiB, and a page of them fits memory. */
export const CHUNK_MAX_BYTES = 256 * 1024;

/** How long a stream can be resumed frame by frame; the answer itself stays. */
const CHUNK_TTL_MS = 24 * 60 * 60 * 1_000;

const frameSchema = z.object({
  id: z.number().int().nonnegative(),
  chunk: z.custom<StreamChunk>(
    (value) => typeof value === 'object' && value !== null && 'type' in value,
  ),
});
const framesSchema = z.array(frameSchema);

const streamChunkSchema = z.object({
  schemaVersion: z.literal(1),
  attempt: z.number().int().positive(),
  /** Nonce of the instance that wrote it. */
  producer: z.string(),
  firstId: z.number().int().nonnegative(),
  lastId: z.number().int().nonnegative(),
  /** JSON text: deltas may hold lone surrogates, which Firestore refuses as they are. */
  framesJson: z.string(),
  /** The last chunk of the attempt, written together with the end of the turn. */
  final: z.boolean().optional(),
  /** The turn waits for the app after this chunk; the attempt may go on. */
  pause: z.boolean().optional(),
  expireTime: z.date(),
});

/** `conversations/{c}/streams/{turnId}/chunks/{attempt}-{lastId}-{producer}`: a stretch of one attempt's frames, never changed. */
export interface StreamChunkDocument extends Omit<
  z.infer<typeof streamChunkSchema>,
  'framesJson' | 'schemaVersion'
> {
  frames: StreamFrame[];
}

/** Reads a chunk document. Throws NewerDocumentError, and ZodError for a shape that no version knows. */
export function decodeStreamChunk(document: StoredDocument): StreamChunkDocument {
  refuseNewer(document);
  const { framesJson, schemaVersion: _, ...fields } = streamChunkSchema.parse(document.fields);
  return { ...fields, frames: framesSchema.parse(JSON.parse(framesJson)) };
}

/** The same; one that cannot be read is as one that is gone: the answer itself stays. Throws NewerDocumentError. */
export function readStreamChunk(document: StoredDocument): StreamChunkDocument | undefined {
  try {
    return decodeStreamChunk(document);
  } catch (error) {
    if (error instanceof NewerDocumentError) throw error;
    return undefined;
  }
}

/** What a stream comes to with a chunk: the end of the turn, or a pause until the app answers. */
export type StreamEnd = 'final' | 'pause';

/** Bytes that a frame takes in a chunk document. */
export const frameBytes = (frame: StreamFrame) => Buffer.byteLength(JSON.stringify(frame)) + 1;

/** The write that stores `frames` (at least one, at most CHUNK_MAX_BYTES of JSON). */
export function streamChunkWrite(chunk: {
  conversationId: string;
  seq: number;
  attempt: number;
  producer: string;
  frames: readonly StreamFrame[];
  end: StreamEnd | undefined;
  now: Date;
}): Write {
  const { attempt, producer, frames, end, now } = chunk;
  const lastId = frames.at(-1)?.id ?? 0;
  return {
    op: 'create',
    path: chunkPath(chunk, { lastId, producer }),
    fields: {
      schemaVersion: 1,
      attempt,
      producer,
      firstId: frames.at(0)?.id,
      lastId,
      framesJson: JSON.stringify(frames),
      ...(end && { [end]: true }),
      expireTime: new Date(now.getTime() + CHUNK_TTL_MS),
    },
  };
}

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
