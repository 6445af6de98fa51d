import { brotliDecompressSync } from 'node:zlib';

const unpacked = (base64: string) => brotliDecompressSync(Buffer.from(base64, 'base64')).toString();

/** All that a document says, as one text: of a segment of the index of recall, what is compressed in it. */
export function readableFields(fields: object): string {
  const isSegment = 'texts' in fields && 'postings' in fields && 'throughSeq' in fields;
  const said = isSegment ? unpacked(String(fields.texts)) : '';
  return `${JSON.stringify(fields)} ${said}`;
}
