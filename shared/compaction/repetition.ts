import { snapshotConstants } from './constants.ts';

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

interface Seen {
  last: number;
  count: number;
  periods: Set<number>;
}

/** A loop comes back at few distances; a list of long paths at many. */
function repeatsChunk(text: string): boolean {
  const { repeatedChunkCharacters, repeatedChunkLimit, repeatedChunkPeriods } = snapshotConstants;
  const seenChunks = new Map<string, Seen>();
  for (let index = 0; index + repeatedChunkCharacters.value <= text.length; index++) {
    const chunk = text.slice(index, index + repeatedChunkCharacters.value);
    const seen = seenChunks.get(chunk);
    if (seen === undefined) {
      seenChunks.set(chunk, { last: index, count: 1, periods: new Set() });
      continue;
    }
    seen.periods.add(index - seen.last);
    seen.last = index;
    seen.count++;
    const isLoop =
      seen.count >= repeatedChunkLimit.value && seen.periods.size <= repeatedChunkPeriods.value;
    if (isLoop) return true;
  }
  return false;
}

/**
 * Whether a model's text runs in a loop: one line more than five times, or 50 characters ten times at
 * few distances. Linear in the text; meant for texts of at most some hundred thousand characters.
 */
export function isRepetitive(text: string): boolean {
  return repeatsLine(text) || repeatsChunk(text);
}
