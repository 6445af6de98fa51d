import { cutHead, cutTail } from '#shared/text/cut.ts';
import type { FoundPlace } from './find-in-text.ts';

/** UTF-16 units before the first word that is shown as found, and from it on. */
const BEFORE_CHARACTERS = 60;
const AFTER_CHARACTERS = 140;
/** Share of an excerpt that stands before the first word that is shown as found. */
const EXCERPT_BEFORE_FRACTION = 0.3;

/** The place from which most of the query is in view; the first of those. */
function bestPlace(places: readonly FoundPlace[]): number {
  let best = { index: 0, units: 0 };
  for (const { index } of places) {
    const inView = places.filter(
      (other) => other.index >= index && other.index < index + AFTER_CHARACTERS / 2,
    );
    const units = new Set(inView.map(({ unit }) => unit)).size;
    if (units > best.units) best = { index, units };
  }
  return best.index;
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ');

interface Stretch {
  /** UTF-16 units before the place, and from it on. */
  before: number;
  after: number;
}

function stretchOf(text: string, index: number, { before, after }: Stretch): string {
  const shownBefore = cutTail(text.slice(0, index), before);
  const shownAfter = cutHead(text.slice(index), after);
  const isCutBefore = shownBefore.length < index;
  const isCutAfter = index + shownAfter.length < text.length;
  const shown = oneLine(shownBefore + shownAfter).trim();
  return `${isCutBefore ? '…' : ''}${shown}${isCutAfter ? '…' : ''}`;
}

/**
 * A stretch of a text around what was found, on one line, with `…` where something was left out. Cuts no
 * grapheme. `reach`: UTF-16 units from the place on that must be in it, at most 200 of them are.
 */
export function cutSnippet(text: string, places: readonly FoundPlace[], reach: number): string {
  const after = Math.max(AFTER_CHARACTERS, Math.min(reach, 200));
  return stretchOf(text, bestPlace(places), { before: BEFORE_CHARACTERS, after });
}

/** As a snippet, but of at most `characters` UTF-16 units: the whole text where it fits. */
export function cutExcerpt(
  text: string,
  places: readonly FoundPlace[],
  characters: number,
): string {
  const line = oneLine(text).trim();
  if (line.length <= characters) return line;
  // Two are for the dots.
  const room = Math.max(0, characters - 2);
  const index = bestPlace(places);
  const before = Math.min(index, Math.floor(room * EXCERPT_BEFORE_FRACTION));
  return stretchOf(text, index, { before, after: room - before });
}
