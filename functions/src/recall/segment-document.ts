import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { z } from 'zod';
import { refuseNewer } from '../../../shared/conversation/schema-version.ts';
import type { DocumentFields, StoredDocument } from '../../../shared/ports.ts';
import { decodeSegment, encodeSegment, type Segment } from '../../../shared/recall/segment.ts';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

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

/** The fields of a segment, and about how many bytes they take. */
export async function packSegment(
  segment: Segment,
  throughSeq: number,
): Promise<{ fields: DocumentFields; bytes: number }> {
  const { json, postings } = encodeSegment(segment);
  const [texts, places] = await Promise.all([
    compress(Buffer.from(json), options),
    compress(postings, options),
  ]);
  const fields = {
    schemaVersion: 1,
    throughSeq,
    texts: texts.toString('base64'),
    postings: places.toString('base64'),
  };
  return { fields, bytes: fields.texts.length + fields.postings.length };
}

const unpack = (base64: string) =>
  decompress(Buffer.from(base64, 'base64'), { maxOutputLength: UNPACKED_BYTES });

/** Reads a segment. Throws NewerDocumentError, and whatever a document that is none makes its readers throw. */
export async function unpackSegment(document: StoredDocument): Promise<StoredSegment> {
  refuseNewer(document);
  const stored = segmentDocumentSchema.parse(document.fields);
  const [json, postings] = await Promise.all([unpack(stored.texts), unpack(stored.postings)]);
  const segment = decodeSegment({ json: json.toString('utf8'), postings });
  return { throughSeq: stored.throughSeq, segment };
}
