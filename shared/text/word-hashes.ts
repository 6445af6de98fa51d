import { STEM_CHARACTERS } from '#shared/text/content-words.ts';

/** Behind the last ASCII character. */
const ASCII_END = 128;
/** Letters in either case and figures count from 1; what stands between words is 0. */
const places = Uint8Array.from(
  { length: ASCII_END },
  (_, code) =>
    1 + '0123456789abcdefghijklmnopqrstuvwxyz'.indexOf(String.fromCharCode(code).toLowerCase()),
);
/** Places, with that of what stands between words. */
const BASE = 37;

const withSign = (hash: number, place: number): number => (BASE * hash + place) | 0;

/** A hash of a unit (`unitsIn`): of its first characters, up to an apostrophe. Two hardly ever have the same. */
export function hashUnit(unit: string): number {
  let hash = 0;
  for (let at = 0; at < unit.length && at < STEM_CHARACTERS; at++) {
    const code = unit.charCodeAt(at);
    const place = code < ASCII_END ? (places[code] ?? 0) : code;
    if (place === 0) break;
    hash = withSign(hash, place);
  }
  return hash;
}

/**
 * Tells the hashes of all units in a text, and of some other words, without making a string of each. False where the text is
 * not ASCII: then some are missing.
 */
export function hashAsciiWords(text: string, onHash: (hash: number) => void): boolean {
  let hash = 0;
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= ASCII_END) return false;
    const place = places[code] ?? 0;
    if (place > 0) {
      if (length < STEM_CHARACTERS) hash = withSign(hash, place);
      length += 1;
    } else if (length > 0) {
      onHash(hash);
      hash = 0;
      length = 0;
    }
  }
  if (length > 0) onHash(hash);
  return true;
}
