import { refuseNewer } from '#shared/conversation/documents/read-document.ts';
import type { DocumentFields, StoredDocument, Logger } from '#shared/ports/ports.ts';
import {
  decodeSegment,
  encodeSegment,
  type Segment,
  segmentOfPassages,
  type Passage,
  shortened,
} from '#shared/recall/segment.ts';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { z } from 'zod';

/** Bytes of a document; the store takes a MiB. */
const DOCUMENT_BYTES = 900_000;
/** Of the texts of one segment, unpacked: what says to be more is none of ours. */
const UNPACKED_BYTES = 32 * 1024 * 1024;

/** Fast enough for each swap; a higher one saves a twentieth. */
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** `conversations/{c}/recall/{n}`: the texts of up to 1,000 turns and where each word stands in them, compressed. */
const segmentDocumentSchema = z.object({
  schemaVersion: z.literal(1),
  /** Turns of the segment up to this one are in it, those that count in a context. */
  throughSeq: z.number().int().nonnegative(),
  /** Brotli, as base64. */
  texts: z.string(),
  postings: z.string(),
});

/** A segment as it is stored. */
export interface StoredSegment {
  throughSeq: number;
  segment: Segment;
}

const pack = (bytes: Uint8Array) => brotliCompressSync(bytes, options).toString('base64');

/** The fields of a segment, and about how many bytes they take. */
function packSegment(
  segment: Segment,
  throughSeq: number,
): { fields: DocumentFields; bytes: number } {
  const { json, postings } = encodeSegment(segment);
  const fields = {
    schemaVersion: 1,
    throughSeq,
    texts: pack(Buffer.from(json)),
    postings: pack(postings),
  };
  return { fields, bytes: fields.texts.length + fields.postings.length };
}

const unpack = (base64: string) =>
  brotliDecompressSync(Buffer.from(base64, 'base64'), { maxOutputLength: UNPACKED_BYTES });

/** Reads a segment. Throws NewerDocumentError, and whatever a document that is none makes its readers throw. */
export function unpackSegment(document: StoredDocument): StoredSegment {
  refuseNewer(document);
  const stored = segmentDocumentSchema.parse(document.fields);
  const json = unpack(stored.texts).toString('utf8');
  const segment = decodeSegment({ json, postings: unpack(stored.postings) });
  return { throughSeq: stored.throughSeq, segment };
}

/** The same; one that cannot be read is as one that is missing, and is told in the log. */
export function readSegment(
  logger: Pick<Logger, 'log'>,
  document: StoredDocument,
): StoredSegment | undefined {
  try {
    return unpackSegment(document);
  } catch (error) {
    logger.log('WARNING', 'recall_segment_unreadable', {
      path: document.path,
      error: error instanceof Error ? error.name : typeof error,
    });
    return undefined;
  }
}

/**
 * UTF-16 units of all texts: what repeats itself compresses to next to nothing, and must be unpacked all the same. As JSON
 * at most six bytes each, so that every reader takes it (`UNPACKED_BYTES`).
 */
const SEGMENT_CHARACTERS = 4_000_000;

/** What is left out of too large a segment may compress better than what stays. */
const SAFETY = 0.9;
const TRIES = 6;

/** The passages as a document, the longest messages shortened until it fits. */
export function fittingSegment(passages: readonly Passage[], throughSeq: number): DocumentFields {
  let shown: readonly Passage[] = shortened(passages, SEGMENT_CHARACTERS);
  for (let tries = 1; ; tries++) {
    const { fields, bytes } = packSegment(segmentOfPassages(shown), throughSeq);
    if (bytes <= DOCUMENT_BYTES) return fields;
    // Never so: half of a MiB of random letters is left after the third.
    if (tries === TRIES) throw new RangeError(`a segment of recall takes ${bytes} bytes`);
    const characters = shown.reduce((sum, { text }) => sum + text.length, 0);
    shown = shortened(shown, Math.floor((SAFETY * characters * DOCUMENT_BYTES) / bytes));
  }
}
