/** A word is suggested where at most this share of its letters differs: a heuristic that takes two slips in `flash`. */
const DIFFERING_SHARE = 0.4;

/** Longer words are not compared, characters: the work grows with the square. */
const COMPARED_CHARACTERS = 200;

/** How many letters have to be put in, taken out or replaced to make one word of another (Levenshtein). */
function editDistance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      const changed = Math.min(above[column] ?? 0, current[column - 1] ?? 0) + 1;
      current.push(Math.min(replaced, changed));
    }
    above = current;
  }
  return above[other.length] ?? 0;
}

/**
 * How alike two words are whatever their case, above 0 to 1 for the same; undefined where they are not alike enough to
 * be one word, misspelt.
 */
function similarity(one: string, other: string): number | undefined {
  const longest = Math.max(one.length, other.length);
  if (longest > COMPARED_CHARACTERS) return undefined;
  const share = editDistance(one.toLowerCase(), other.toLowerCase()) / Math.max(1, longest);
  return share > DIFFERING_SHARE ? undefined : 1 - share;
}

/** The candidate that a misspelt word is most like; undefined where none is like it. */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  let best: { likeness: number; candidate: string } | undefined;
  for (const candidate of candidates) {
    const likeness = similarity(word, candidate);
    if (likeness === undefined) continue;
    if (best === undefined || likeness > best.likeness) best = { likeness, candidate };
  }
  return best?.candidate;
}
