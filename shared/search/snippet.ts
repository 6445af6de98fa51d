import { headOf, tailOf } from '../text-cut.ts';
import type { FoundPlace } from './find-in-text.ts';

/** UTF-16 units before the first word that is shown as found, and from it on. */
const BEFORE_CHARACTERS = 60;
const AFTER_CHARACTERS = 140;

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

/**
 * A stretch of a text around what was found, on one line, with `…` where something was left out. Cuts no
 * grapheme. `reach`: UTF-16 units from the place on that must be in it, at most 200 of them are.
 */
export function snippetOf(text: string, places: readonly FoundPlace[], reach: number): string {
  const index = bestPlace(places);
  const before = tailOf(text.slice(0, index), BEFORE_CHARACTERS);
  const room = Math.max(AFTER_CHARACTERS, Math.min(reach, 200));
  const after = headOf(text.slice(index), room);
  const isCutBefore = before.length < index;
  const isCutAfter = index + after.length < text.length;
  return `${isCutBefore ? '…' : ''}${oneLine(before + after).trim()}${isCutAfter ? '…' : ''}`;
}
