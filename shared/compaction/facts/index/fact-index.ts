import { once } from '#shared/once.ts';
import { toDayKey } from '../values/calendar-day.ts';
import type { Fact, FactKind } from './fact.ts';
import { indexLines, isSentenceHeld, type LineIndex } from './line-index.ts';
import { holdsPhrase, joinPhrases, type Phrases } from '../languages/phrases.ts';
import { unspacedScript } from '#shared/compaction/facts/speech/content-words.ts';
import { findRelativeDates } from '../values/relative-dates.ts';
import {
  addReading,
  addValues,
  noValues,
  readText,
  numbersIn,
  type KnownText,
} from './text-facts.ts';

/** What texts hold, to compare facts with; built once, however often it is asked. */
export interface FactIndex {
  /** Readings by kind, exactly as said. */
  readonly readings: ReadonlyMap<FactKind, ReadonlySet<string>>;
  /** What follows from full dates: their day of the year, of the month, their month. */
  readonly coarseDates: ReadonlySet<string>;
  /** Values said as numbers, amounts, quantities, years. */
  readonly numbers: ReadonlySet<string>;
  /** All that figures and number words can stand for, parts of dates and identifiers included. */
  readonly figures: ReadonlySet<string>;
  /** Made when first asked for: most questions need neither. */
  readonly phrases: () => Phrases;
  readonly lines: () => LineIndex;
}

/**
 * Everything that texts hold. `saidAt` are the days on which they were said: those days count as said, and
 * so does what "tomorrow" or "last week" means from each of them. Linear; a text that was read before is not read again.
 */
export function indexFacts(texts: readonly KnownText[], saidAt: readonly Date[] = []): FactIndex {
  const held = noValues();
  const days = [...new Map(saidAt.map((at) => [toDayKey(at), at])).values()];
  const all = texts.map((text) => (typeof text === 'string' ? readText(text) : text));
  for (const { folded, values } of all) {
    addValues(held, values);
    for (const at of days)
      for (const found of findRelativeDates(folded, at)) addReading(held, found);
  }
  for (const at of days)
    addReading(held, { kind: 'date', start: 0, end: 0, readings: [toDayKey(at)] });
  return {
    ...held,
    phrases: once(() => joinPhrases(all.map(({ phrases }) => phrases()))),
    lines: once(() => indexLines(all.map(({ lines }) => lines()))),
  };
}

/** What is compared: kind and key, and the text as written. */
export type LookedUp = Pick<Fact, 'kind' | 'key' | 'text'>;

const unspaced = new RegExp(`[${unspacedScript}]`, 'u');

/** All notations in one key. */
export const keyOfReadings = (readings: readonly string[]): string =>
  readings.length === 1 ? (readings[0] ?? '') : readings.join('|');

const readingsOf = (key: string): string[] => (key.includes('|') ? key.split('|') : [key]);

const has = (index: FactIndex, kind: FactKind, reading: string): boolean =>
  index.readings.get(kind)?.has(reading) === true;

function isDateHeld(reading: string, index: FactIndex): boolean {
  if (has(index, 'date', reading)) return true;
  const [, year] = /^year:(\d{4})$/.exec(reading) ?? [];
  if (year !== undefined) return index.numbers.has(year);
  const [, fullYear = '', day = ''] = /^(\d{4})-(\d\d-\d\d)$/.exec(reading) ?? [];
  if (day !== '') return has(index, 'date', `--${day}`) && index.numbers.has(fullYear);
  return index.coarseDates.has(reading);
}

function isAmountHeld(reading: string, index: FactIndex): boolean {
  if (has(index, 'amount', reading)) return true;
  const [currency = ''] = reading.split(':');
  const values = numbersIn(reading);
  return values.every(
    (value) =>
      has(index, 'number', value) ||
      (values.length > 1 && has(index, 'amount', `${currency}:${value}`)),
  );
}

/**
 * A number of two digits that is said as one holds it; of other figures, such as parts of a time, the unit
 * must be there too, or 3 would be held by any 3. Scripts without blanks write it right behind the number.
 */
function isQuantityHeld(reading: string, fact: LookedUp, index: FactIndex): boolean {
  if (has(index, 'quantity', reading)) return true;
  const values = numbersIn(reading);
  if (values.every((value) => value.length > 1 && index.numbers.has(value))) return true;
  const unit = /\p{L}+$/u.exec(fact.text.trim())?.[0] ?? fact.text;
  return (
    !unspaced.test(unit) &&
    values.every((value) => index.figures.has(value)) &&
    holdsPhrase(index.phrases(), unit)
  );
}

/** A longer path that ends in this one, or its own end of two names or more. */
function isPathHeld(key: string, index: FactIndex): boolean {
  if (has(index, 'path', key)) return true;
  const names = key.split('/').filter((name) => name !== '');
  for (let from = 1; from < names.length - 1; from++)
    if (has(index, 'path', names.slice(from).join('/'))) return true;
  return holdsPhrase(index.phrases(), key);
}

const isPhoneHeld = (reading: string, index: FactIndex): boolean =>
  has(index, 'phone', reading) || index.numbers.has(reading);

/** `Garcia, Ivan` holds Ivan Garcia. */
function isNameHeld(fact: LookedUp, index: FactIndex): boolean {
  if (holdsPhrase(index.phrases(), fact.text)) return true;
  return fact.text.trim().includes(' ') && isSentenceHeld(fact.text, index.lines(), 1);
}

/**
 * Whether the texts of an index say the fact: dates, times and numbers in any notation, words without regard
 * to case, width and blanks, whole words only in scripts that have them. An instruction is held by most
 * of its words in one place.
 */
export function isHeld(fact: LookedUp, index: FactIndex): boolean {
  const readings = readingsOf(fact.key);
  switch (fact.kind) {
    case 'link':
    case 'email':
      return has(index, fact.kind, fact.key) || holdsPhrase(index.phrases(), fact.text);
    case 'phone':
      return readings.some((reading) => isPhoneHeld(reading, index));
    case 'path':
      return isPathHeld(fact.key, index);
    case 'identifier':
      return (
        has(index, 'identifier', fact.key) ||
        holdsPhrase(index.phrases(), fact.key) ||
        // `1,250,000 won` says 1250000.
        (/^\d+$/.test(fact.key) && index.numbers.has(fact.key))
      );
    case 'date':
      return (
        readings.some((reading) => isDateHeld(reading, index)) ||
        holdsPhrase(index.phrases(), fact.text)
      );
    case 'time':
      return readings.some((reading) => has(index, 'time', reading));
    case 'amount':
      return readings.some((reading) => isAmountHeld(reading, index));
    case 'quantity':
      return readings.some((reading) => isQuantityHeld(reading, fact, index));
    case 'number':
      return readings.some((reading) => index.numbers.has(reading));
    case 'quoted':
    case 'term':
      return holdsPhrase(index.phrases(), fact.text);
    case 'name':
      return isNameHeld(fact, index);
    case 'instruction':
      return isSentenceHeld(fact.text, index.lines());
  }
}
