import { brotliDecompressSync } from 'node:zlib';

/** The bytes of a text in base64, which Firestore's REST interface gives as `{stringValue}`. */
function bytesOf(value: unknown): Buffer {
  const isWrapped = typeof value === 'object' && value !== null && 'stringValue' in value;
  return Buffer.from(String(isWrapped ? value.stringValue : value), 'base64');
}

/**
 * All that a document says, as one text: of a segment of the index of recall, what is compressed in it.
 * Fields as the store gives them, or as Firestore's REST interface writes them.
 */
export function readableFields(fields: object): string {
  const isSegment = 'texts' in fields && 'postings' in fields && 'throughSeq' in fields;
  const said = isSegment ? brotliDecompressSync(bytesOf(fields.texts)).toString() : '';
  return `${JSON.stringify(fields)} ${said}`;
}
