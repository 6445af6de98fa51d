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

function repeatsChunk(text: string): boolean {
  const { repeatedChunkCharacters, repeatedChunkLimit } = snapshotConstants;
  const placesOf = new Map<string, number[]>();
  for (let index = 0; index + repeatedChunkCharacters.value <= text.length; index++) {
    const chunk = text.slice(index, index + repeatedChunkCharacters.value);
    const places = placesOf.get(chunk);
    if (places === undefined) {
      placesOf.set(chunk, [index]);
      continue;
    }
    places.push(index);
    if (places.length > repeatedChunkLimit.value) places.shift();
    if (places.length === repeatedChunkLimit.value && isLoop(text, places) && !isRuler(chunk))
      return true;
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
