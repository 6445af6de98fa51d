/** A word is suggested where at most this share of its letters differs: a heuristic, three of `flash` do not. */
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

/** The candidate that a misspelt word is most like, whatever its case; undefined where none is like it. */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > COMPARED_CHARACTERS) return undefined;
  const given = word.toLowerCase();
  let best: { distance: number; candidate: string } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(given, candidate.toLowerCase());
    if (distance > DIFFERING_SHARE * Math.max(given.length, candidate.length)) continue;
    if (best === undefined || distance < best.distance) best = { distance, candidate };
  }
  return best?.candidate;
}
