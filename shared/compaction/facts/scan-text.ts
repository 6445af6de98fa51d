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
  return found.filter(({ start, end }) => {
    if (end <= start || taken.subarray(start, end).includes(1)) return false;
    taken.fill(1, start, end);
    return true;
  });
}

/**
 * Links, addresses, paths and identifiers alone: what is read of long tool output.
 */
export function scanReferences(text: string): Found[] {
  const places = placesOf(text);
  return [...references, findIdentifiers].flatMap((find) => takeFree(find(text), places));
}

/** What a finder finds in the windows, at its places in the whole text. */
const inWindows = (windows: readonly Window[], find: Finder): Found[] =>
  windows.flatMap(({ start, text }) =>
    find(text).map((found) => ({ ...found, start: found.start + start, end: found.end + start })),
  );

/**
 * Everything with figures or a form of its own in a folded text: no place twice. `at` is when it was said.
 */
export function scanValues(text: string, options: { at?: Date; places?: Places } = {}): Found[] {
  const { at, places = placesOf(text) } = options;
  const windows = windowsOfFigures(text);
  return [
    ...references.flatMap((find) => takeFree(find(text), places)),
    ...values.flatMap((find) => takeFree(inWindows(windows, find), places)),
    ...takeFree(findSpelledQuantities(text), places),
    ...takeFree(findIdentifiers(text), places),
    ...takeFree(findRelativeDates(text, at), places),
    ...takeFree(inWindows(windows, findNumbers), places),
  ];
}
