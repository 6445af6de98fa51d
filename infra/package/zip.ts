import { zipSync, type Zippable } from 'fflate';

/** Files of an archive by their names, which are ASCII and relative. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** Made on Unix, so that modes count. */
const UNIX = 3;
/** A regular file, -rw-r--r--. */
const MODE = (0o100644 << 16) >>> 0;
/** The first day that a zip can name, of the local time that fflate writes. */
const FIRST_DAY = new Date(1980, 0, 1);

/**
 * A zip whose bytes depend on names and contents alone: names sorted by their code units, one date, one mode,
 * and fflate's compression, which is JavaScript (what zlib makes differs by processor and version).
 */
export function toZip(files: Files): Uint8Array {
  const names = [...files.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  const entries: Zippable = {};
  for (const name of names) entries[name] = files.get(name) ?? new Uint8Array();
  return zipSync(entries, { level: 6, os: UNIX, attrs: MODE, mtime: FIRST_DAY });
}
