import { findImpossibleDates } from '../values/dates.ts';
import type { FactKind } from './fact.ts';
import { isHeld, keyOfReadings, type FactIndex } from './fact-index.ts';
import type { FactMatch } from './fact-match.ts';
import { foldWidth, plainText } from '#shared/text/plain-text.ts';
import { holdsPhrase } from '../languages/phrases.ts';
import { findQuotes } from '../speech/quoted-speech.ts';
import { scanValues } from './fact-finders.ts';

/** Kinds that a text must not make up. Paths are joined and shortened by every good summary. */
const checked: ReadonlySet<FactKind> = new Set([
  'link',
  'email',
  'phone',
  'identifier',
  'date',
  'time',
  'amount',
  'quantity',
  'number',
]);
const countable: ReadonlySet<FactKind> = new Set(['amount', 'quantity', 'number']);
/** The number of a list item or of a turn. */
const lineNumber = /^[ \t]{0,12}(?:[-*•][ \t]{1,4})?\(?\d{1,3}[.):]{1,2}(?=\s)/gm;

const blanked = (text: string): string =>
  text.replaceAll(lineNumber, (found) => ' '.repeat(found.length));

/** `ORD-20231` where the sources say "order 20231": all its parts with figures are there. */
function isComposed(identifier: string, index: FactIndex): boolean {
  const parts = identifier.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return parts
    .filter((part) => /\d/.test(part))
    .every((part) => index.figures.has(part) || holdsPhrase(index.phrases(), part));
}

/** A full hour of "at 3", on either clock; midnight is in every full hour's figures. */
function isHourSaid(readings: readonly string[], index: FactIndex): boolean {
  return readings.some((reading) => {
    const [hour = '', minute] = reading.split(':');
    return minute === '00' && hour !== '00' && index.figures.has(String(Number(hour)));
  });
}

/** A date whose year or month the sources leave open. */
function isDaySaid(readings: readonly string[], { readings: said }: FactIndex): boolean {
  const dates = said.get('date') ?? new Set<string>();
  return readings.some((reading) => {
    const [, month, day] = /(\d\d)-(\d\d)$/.exec(reading) ?? [];
    return month !== undefined && (dates.has(`--${month}-${day}`) || dates.has(`---${day}`));
  });
}

const valuesOf = (reading: string): string[] => reading.match(/\d[\d.]*/g) ?? [];

const areSaid = (values: readonly string[], { figures }: FactIndex): boolean =>
  values.every((value) => figures.has(value));

/** One need not be said as a figure; other single digits are everywhere. */
const areNumbers = (values: readonly string[], { numbers }: FactIndex): boolean =>
  values.every((value) => value === '1' || (value.length > 1 && numbers.has(value)));

const unitOf = (reading: string): string => reading.slice(reading.lastIndexOf(' ') + 1);

/**
 * So many of something: said as it is, or as a number; or as any figure ("a table for 4", part of a time),
 * where no other number of the same is said.
 */
function isCountSaid(readings: readonly string[], index: FactIndex): boolean {
  const said = index.readings.get('quantity') ?? new Set<string>();
  const units = new Set([...said].map(unitOf));
  return readings.some((reading) => {
    const values = valuesOf(reading);
    if (said.has(reading) || areNumbers(values, index)) return true;
    return !units.has(unitOf(reading)) && areSaid(values, index);
  });
}

function isSupported(found: FactMatch, text: string, index: FactIndex): boolean {
  const { kind, readings } = found;
  if (kind === 'quantity') return isCountSaid(readings, index);
  if (isHeld({ kind, key: keyOfReadings(readings), text }, index)) return true;
  if (kind === 'identifier') return !/\d/.test(text) || isComposed(text, index);
  // What is told from the day of saying was resolved by the writer, or is about no day.
  if (kind === 'date')
    return readings.every((reading) => /:|[a-z]/.test(reading)) || isDaySaid(readings, index);
  if (kind === 'time') return isHourSaid(readings, index);
  return countable.has(kind) && readings.some((reading) => areSaid(valuesOf(reading), index));
}

/**
 * Whether the sources say a value itself, in any notation: parts of dates, times and ranges count for no
 * number, and one is no exception.
 */
function isSaidItself({ kind, readings }: FactMatch, text: string, index: FactIndex): boolean {
  if (!countable.has(kind)) return isHeld({ kind, key: keyOfReadings(readings), text }, index);
  return readings.some((reading) => {
    if (index.readings.get(kind)?.has(reading) === true) return true;
    const [value = '', ...others] = valuesOf(reading);
    return others.length === 0 && index.numbers.has(value);
  });
}

/** Where a folded text says values that an index holds in the strict sense, in any notation. */
export const placesSaidIn = (folded: string, index: FactIndex): FactMatch[] =>
  scanValues(folded).filter(
    (found) =>
      checked.has(found.kind) && isSaidItself(found, folded.slice(found.start, found.end), index),
  );

/** One word in quotes is an emphasis as often as a quote. */
const isPhrase = (text: string): boolean =>
  /\s\S/.test(text.trim()) || /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]{4}/u.test(text);

/** A value of a statement that its sources can be asked for. */
export interface CheckedValue extends FactMatch {
  /** As written. */
  text: string;
  /** What the statement says in front of it and behind it, signs folded to plain ones. */
  before: string;
  after: string;
}

function impossibleDate(found: FactMatch): FactMatch {
  // Only the very words can bear it out.
  return { ...found, kind: 'quoted' };
}

/**
 * The values of a text that a source can be asked for, in order: identifiers, dates, times, links, addresses,
 * telephone numbers, amounts, quantities, numbers of two digits or more, days that no calendar has, quotes of two
 * words or more. A single digit without a unit is none.
 */
export function checkedValuesIn(text: string): CheckedValue[] {
  const plain = foldWidth(text);
  const folded = blanked(plain);
  const values = scanValues(folded).filter(({ kind }) => checked.has(kind));
  const quotes = findQuotes(folded).filter(({ start, end }) => isPhrase(folded.slice(start, end)));
  return [...values, ...findImpossibleDates(folded).map(impossibleDate), ...quotes]
    .map((found) => ({
      ...found,
      text: folded.slice(found.start, found.end),
      before: plain.slice(0, found.start),
      after: plain.slice(found.end),
    }))
    .toSorted((one, other) => one.start - other.start);
}

/** Whether an index holds a value, in any notation; numbers may be spelled out there. */
export const isValueHeld = (value: CheckedValue, index: FactIndex): boolean =>
  value.kind === 'quoted'
    ? holdsPhrase(index.phrases(), plainText(value.text))
    : isSupported(value, value.text, index);

/**
 * What a text says that an index does not hold, as written, each once (`checkedValuesIn`). Heuristic: sums that are
 * worked out are unsupported.
 */
export function unsupportedIn(text: string, index: FactIndex): string[] {
  const unsupported = checkedValuesIn(text).filter((value) => !isValueHeld(value, index));
  return [...new Set(unsupported.map(({ text: written }) => written))];
}
