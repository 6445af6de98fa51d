import { crc32 } from 'node:zlib';

/** Files of an archive by their names, which are ASCII and relative. */
export type Files = ReadonlyMap<string, Uint8Array>;

const VERSION = 20;
/** Made on Unix, so that modes count. */
const MADE_BY = (3 << 8) | VERSION;
/** A regular file, -rw-r--r--. */
const MODE = (0o100644 << 16) >>> 0;
/** 1980-01-01, the first day that a zip can name. */
const DOS_DATE = 0x21;
const LOCAL_SIGNATURE = 0x04034b50;
const CENTRAL_SIGNATURE = 0x02014b50;
const END_SIGNATURE = 0x06054b50;

/** The fields that both headers of a file share. */
function sharedFields(name: Uint8Array, content: Uint8Array): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(VERSION, 0);
  // Flags 0, method 0 (stored), time 0.
  fields.writeUInt16LE(DOS_DATE, 8);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(content.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function centralHeader(name: Uint8Array, content: Uint8Array, offset: number): Buffer {
  const before = Buffer.alloc(2);
  before.writeUInt16LE(MADE_BY);
  const after = Buffer.alloc(14);
  after.writeUInt32LE(MODE, 6);
  after.writeUInt32LE(offset, 10);
  return Buffer.concat([
    signature(CENTRAL_SIGNATURE),
    before,
    sharedFields(name, content),
    after,
    name,
  ]);
}

function endOf(central: { count: number; sizeBytes: number; offset: number }): Buffer {
  const end = Buffer.alloc(18);
  end.writeUInt16LE(central.count, 4);
  end.writeUInt16LE(central.count, 6);
  end.writeUInt32LE(central.sizeBytes, 8);
  end.writeUInt32LE(central.offset, 12);
  return Buffer.concat([signature(END_SIGNATURE), end]);
}

/**
 * A zip whose bytes depend on names and contents alone: names sorted by their code units, one date, one mode,
 * nothing compressed (what deflate makes differs by processor and version).
 */
export function zipOf(files: Files): Buffer {
  const names = [...files.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const each of names) {
    const name = Buffer.from(each, 'ascii');
    const content = files.get(each) ?? new Uint8Array();
    central.push(centralHeader(name, content, offset));
    const entry = Buffer.concat([
      signature(LOCAL_SIGNATURE),
      sharedFields(name, content),
      name,
      content,
    ]);
    local.push(entry);
    offset += entry.length;
  }
  const directory = Buffer.concat(central);
  return Buffer.concat([
    ...local,
    directory,
    endOf({ count: names.length, sizeBytes: directory.length, offset }),
  ]);
}
