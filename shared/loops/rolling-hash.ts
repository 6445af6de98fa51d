/** UTF-16 units of the chunk whose repetition is looked for, as in Gemini CLI. */
export const CHUNK_CHARACTERS = 50;

/** Of the hash, modulo 2^32: odd, and above all UTF-16 units. */
const BASE = 65_599;
/** BASE to the power of CHUNK_CHARACTERS - 1. */
const LEADING = Array.from({ length: CHUNK_CHARACTERS - 1 }).reduce<number>(
  (power) => Math.imul(power, BASE),
  1,
);
/** Units that are kept: those of a chunk, and some more for a power of two. */
const KEPT = 64;

/** The hash of the chunk that ends with the newest unit of a text. */
interface RollingHash {
  /** Takes one UTF-16 unit; the hash of it and the 49 before it, or of all there are. */
  take(code: number): number;
}

export function createRollingHash(): RollingHash {
  const codes = new Uint16Array(KEPT);
  let next = 0;
  let hash = 0;
  return {
    take(code) {
      const place = next++;
      const gone = place < CHUNK_CHARACTERS ? 0 : (codes[(place - CHUNK_CHARACTERS) % KEPT] ?? 0);
      hash = (Math.imul(hash - Math.imul(gone, LEADING), BASE) + code) | 0;
      codes[place % KEPT] = code;
      return hash;
    },
  };
}
