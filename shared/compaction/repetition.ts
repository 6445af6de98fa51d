import { snapshotConstants } from './snapshot-constants.ts';

/** Lines shorter than this (bullets, `- DONE`) may repeat. */
const LINE_CHARACTERS = 12;

function repeatsLine(text: string): boolean {
  const counts = new Map<string, number>();
  for (const rawLine of text.split('\n')) {
    const line = rawLine.trim();
    if (line.length < LINE_CHARACTERS) continue;
    const count = (counts.get(line) ?? 0) + 1;
    if (count > snapshotConstants.repeatedLineLimit.value) return true;
    counts.set(line, count);
  }
  return false;
}

/** A ruler (`-----`) or a row of dots repeats itself and is no loop. */
const LOOP_CHARACTERS = 4;

const isRuler = (chunk: string) => new Set(chunk).size < LOOP_CHARACTERS;

/**
 * Whether places of one chunk are those of a loop: close together, and with the same words between
 * them. Lines of a list that differ in a number, a date or a name are no loop.
 */
function isLoop(text: string, places: readonly number[]): boolean {
  const { repeatedChunkCharacters, repeatedChunkPeriods } = snapshotConstants;
  const [first = 0, last = 0] = [places[0], places.at(-1)];
  const averageDistance = (last - first) / (places.length - 1);
  // The bound of Gemini CLI's loop detection: five chunk lengths.
  if (averageDistance > 5 * repeatedChunkCharacters.value) return false;
  const periods = places.slice(1).map((place, i) => text.slice(places[i], place));
  return new Set(periods).size <= repeatedChunkPeriods.value;
}

/** Of the rolling hash: odd, and large enough to spread neighbouring characters. */
const HASH_FACTOR = 0x01_00_01_93;

/** Hashes of the chunks of a text in the order of their places, each made of the one before. */
function* chunkHashes(text: string, length: number): Generator<number> {
  let hash = 0;
  let outgoing = 1;
  for (let at = 0; at < length; at++) outgoing = Math.imul(outgoing, HASH_FACTOR);
  for (let at = 0; at < text.length; at++) {
    hash = (Math.imul(hash, HASH_FACTOR) + text.charCodeAt(at)) | 0;
    if (at >= length) hash = (hash - Math.imul(outgoing, text.charCodeAt(at - length))) | 0;
    if (at >= length - 1) yield hash;
  }
}

function repeatsChunk(text: string): boolean {
  const length = snapshotConstants.repeatedChunkCharacters.value;
  const limit = snapshotConstants.repeatedChunkLimit.value;
  const chunkAt = (place: number): string => text.slice(place, place + length);
  // By hash: most chunks stand once, and are never taken out of the text.
  const placesOf = new Map<number, number[][]>();
  let index = -1;
  for (const hash of chunkHashes(text, length)) {
    index += 1;
    const alike = placesOf.get(hash);
    if (alike === undefined) {
      placesOf.set(hash, [[index]]);
      continue;
    }
    const chunk = chunkAt(index);
    const places = alike.find(([place = 0]) => chunkAt(place) === chunk);
    if (places === undefined) {
      alike.push([index]);
      continue;
    }
    places.push(index);
    if (places.length > limit) places.shift();
    if (places.length === limit && isLoop(text, places) && !isRuler(chunk)) return true;
  }
  return false;
}

/**
 * Whether a model's text runs in a loop: one line more than five times, or 50 characters ten times close
 * together with few different texts between them. Linear in the text; meant for texts of at most some hundred thousand characters.
 */
export function isRepetitive(text: string): boolean {
  return repeatsLine(text) || repeatsChunk(text);
}
