import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { z } from 'zod';
import { refuseNewer } from '#shared/conversation/documents/schema-version.ts';
import type { DocumentFields, StoredDocument } from '#shared/ports/ports.ts';
import { decodeSegment, encodeSegment, type Segment } from '#shared/recall/segment.ts';

/** Bytes of a document; the store takes a MiB. */
export const DOCUMENT_BYTES = 900_000;
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
export function packSegment(
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
