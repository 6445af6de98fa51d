/** A file of an archive, as its entry in the directory at the end says. */
export interface ZippedFile {
  name: string;
  content: Buffer;
  /** Compression method; 0 = stored. */
  method: number;
  /** Date and time as MS-DOS writes them. */
  date: number;
  time: number;
  mode: number;
}

const END_LENGTH = 22;
const CENTRAL_LENGTH = 46;
const LOCAL_LENGTH = 30;

/** The files of a zip without comment that compresses nothing, read by its directory. */
export function readStoredZip(zip: Buffer): ZippedFile[] {
  const end = zip.subarray(zip.length - END_LENGTH);
  const files: ZippedFile[] = [];
  let at = end.readUInt32LE(16);
  for (let left = end.readUInt16LE(10); left > 0; left--) {
    const nameLength = zip.readUInt16LE(at + 28);
    const name = zip.toString('ascii', at + CENTRAL_LENGTH, at + CENTRAL_LENGTH + nameLength);
    const start = zip.readUInt32LE(at + 42) + LOCAL_LENGTH + nameLength;
    files.push({
      name,
      content: zip.subarray(start, start + zip.readUInt32LE(at + 24)),
      method: zip.readUInt16LE(at + 10),
      time: zip.readUInt16LE(at + 12),
      date: zip.readUInt16LE(at + 14),
      mode: zip.readUInt32LE(at + 38) >>> 16,
    });
    at += CENTRAL_LENGTH + nameLength;
  }
  return files;
}
