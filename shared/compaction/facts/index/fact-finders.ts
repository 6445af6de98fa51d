import { findAmounts } from '../values/amounts.ts';
import { findEmails, findLinks, findPhones } from '../values/contacts.ts';
import { findDates } from '../values/dates.ts';
import type { Finder, FactMatch } from './fact-match.ts';
import { findIdentifiers } from '../values/identifiers.ts';
import { findPaths } from '../values/paths.ts';
import { findNumbers, findQuantities, findSpelledQuantities } from '../values/quantities.ts';
import type { TextSpan } from '../speech/quoted-speech.ts';
import { findRelativeDates } from '../values/relative-dates.ts';
import { findTimes } from '../values/times.ts';
import { windowsOfFigures, type Window } from '../values/windows.ts';

/** The families in the order in which they take their places: a link's figures are no number. */
const references: readonly Finder[] = [findLinks, findEmails, findPaths];
const values: readonly Finder[] = [findDates, findTimes, findPhones, findAmounts, findQuantities];

/** Which places of a text are taken: stretches in order, none over another. */
export interface Places {
  taken: TextSpan[];
}

export const noPlaces = (): Places => ({ taken: [] });

/** Where, among the stretches that are taken, one belongs that begins at `start`: behind all that end before. */
function placeFor(start: number, { taken }: Places): number {
  let low = 0;
  let high = taken.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((taken[middle]?.end ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Those found at places that nothing has taken yet; they are taken afterwards. */
export function takeFree<F extends TextSpan>(found: readonly F[], places: Places): F[] {
  const { taken } = places;
  return found.filter((one) => {
    const { start, end } = one;
    if (end > start && start >= (taken.at(-1)?.end ?? 0)) {
      taken.push(one);
      return true;
    }
    const place = placeFor(start, places);
    if (end <= start || (taken[place]?.start ?? Infinity) < end) return false;
    taken.splice(place, 0, one);
    return true;
  });
}

/**
 * Links, addresses, paths and identifiers alone: what is read of long tool output.
 */
export function scanReferences(text: string): FactMatch[] {
  const places = noPlaces();
  const all: FactMatch[] = [];
  for (const find of [...references, findIdentifiers])
    for (const found of takeFree(find(text), places)) all.push(found);
  return all;
}

/** What a finder finds in the windows, at its places in the whole text. */
function inWindows(windows: readonly Window[], find: Finder): FactMatch[] {
  const all: FactMatch[] = [];
  for (const { start, text } of windows)
    for (const found of find(text))
      all.push(
        start === 0 ? found : { ...found, start: found.start + start, end: found.end + start },
      );
  return all;
}

/**
 * Everything with figures or a form of its own in a folded text: no place twice. `at` is when it was said.
 */
export function scanValues(
  text: string,
  options: { at?: Date; places?: Places } = {},
): FactMatch[] {
  const { at, places = noPlaces() } = options;
  const windows = windowsOfFigures(text);
  const all: FactMatch[] = [];
  const take = (found: readonly FactMatch[]): void => {
    if (found.length > 0) all.push(...takeFree(found, places));
  };
  for (const find of references) take(find(text));
  for (const find of values) take(inWindows(windows, find));
  take(findSpelledQuantities(text));
  take(findIdentifiers(text));
  take(findRelativeDates(text, at));
  take(inWindows(windows, findNumbers));
  return all;
}
