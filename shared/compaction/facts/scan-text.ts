import { findAmounts } from './amounts.ts';
import { findEmails, findLinks, findPhones } from './contacts.ts';
import { findDates } from './dates.ts';
import type { Finder, Found } from './found.ts';
import { findIdentifiers } from './identifiers.ts';
import { findPaths } from './paths.ts';
import { findNumbers, findQuantities, findSpelledQuantities } from './quantities.ts';
import { findRelativeDates } from './relative-dates.ts';
import { findTimes } from './times.ts';
import { windowsOfFigures, type Window } from './windows.ts';

/** The families in the order in which they take their places: a link's figures are no number. */
const references: readonly Finder[] = [findLinks, findEmails, findPaths];
const values: readonly Finder[] = [findDates, findTimes, findPhones, findAmounts, findQuantities];

/** Which places of a text are taken, one byte for each UTF-16 unit. */
export interface Places {
  taken: Uint8Array;
}

export const placesOf = (text: string): Places => ({ taken: new Uint8Array(text.length) });

/** Those found at places that nothing has taken yet; they are taken afterwards. */
export function takeFree(found: readonly Found[], { taken }: Places): Found[] {
  if (found.length === 0) return [];
  return found.filter(({ start, end }) => {
    if (end <= start || isTaken(taken, start, end)) return false;
    taken.fill(1, start, end);
    return true;
  });
}

function isTaken(taken: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (taken[at] === 1) return true;
  return false;
}

/**
 * Links, addresses, paths and identifiers alone: what is read of long tool output.
 */
export function scanReferences(text: string): Found[] {
  const places = placesOf(text);
  return [...references, findIdentifiers].flatMap((find) => takeFree(find(text), places));
}

/** What a finder finds in the windows, at its places in the whole text. */
function inWindows(windows: readonly Window[], find: Finder): Found[] {
  const all: Found[] = [];
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
export function scanValues(text: string, options: { at?: Date; places?: Places } = {}): Found[] {
  const { at, places = placesOf(text) } = options;
  const windows = windowsOfFigures(text);
  const all: Found[] = [];
  const take = (found: readonly Found[]): void => {
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
