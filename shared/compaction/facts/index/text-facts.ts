import { once } from '#shared/once.ts';
import { coarserKeys } from '../values/calendar-day.ts';
import type { FactKind } from './fact.ts';
import type { FactMatch } from './fact-match.ts';
import { readLines, type ReadLine } from './line-index.ts';
import { distinctNumbers, numberReadings, spelledNumbers } from '../values/number-values.ts';
import { readPhrases, type Phrases } from '../languages/phrases.ts';
import { foldWidth, plainText } from '#shared/text/plain-text.ts';
import { scanValues } from './fact-finders.ts';
import { impliedNumbers, writtenNumbers } from '../languages/written-numbers.ts';

/** What one text, or several together, hold in figures and forms. */
interface HeldValues {
  /** Readings by kind, exactly as said. */
  readings: Map<FactKind, Set<string>>;
  /** What follows from full dates: their day of the year, of the month, their month. */
  coarseDates: Set<string>;
  /** Values said as numbers, amounts, quantities, years. */
  numbers: Set<string>;
  /** All that figures and number words can stand for, parts of dates and identifiers included. */
  figures: Set<string>;
}

/** One text as facts are looked for in it; words and lines are read when they are first asked for. */
export interface TextFacts {
  folded: string;
  values: HeldValues;
  phrases: () => Phrases;
  lines: () => readonly ReadLine[];
}

/** A text, or what was read of it before. */
export type KnownText = string | TextFacts;

export type TextReader = (text: string) => TextFacts;

export const noValues = (): HeldValues => ({
  readings: new Map(),
  coarseDates: new Set(),
  numbers: new Set(),
  figures: new Set(),
});

/** The figures of `cny:100~150` or `1~2 hour`. */
export const numbersIn = (reading: string): string[] => reading.match(/\d[\d.]*/g) ?? [];

export function addReading(held: HeldValues, { kind, readings }: FactMatch): void {
  const own = held.readings.get(kind) ?? new Set<string>();
  held.readings.set(kind, own);
  for (const reading of readings) {
    own.add(reading);
    if (kind === 'date') {
      for (const coarse of coarserKeys(reading)) held.coarseDates.add(coarse);
      const [year] = /\d{4}/.exec(reading) ?? [];
      if (year !== undefined) held.numbers.add(year);
    }
    if (kind === 'number') held.numbers.add(reading);
    if (kind === 'quantity') for (const value of numbersIn(reading)) held.numbers.add(value);
    if (kind === 'amount') for (const value of numbersIn(reading)) held.numbers.add(value);
    if (kind === 'phone' || kind === 'identifier') held.numbers.add(reading.replaceAll(/\D/g, ''));
  }
}

/** Most numbers are figures alone, and mean what they are. */
const bareNumber = /^\d+$/;

function figuresOf(number: string): readonly string[] {
  return bareNumber.test(number)
    ? numberReadings(number)
    : writtenNumbers(number).flatMap(({ values, scaledValues, parts }) => [
        ...values,
        ...scaledValues,
        ...parts,
      ]);
}

function addFigures(held: HeldValues, plain: string): void {
  for (const number of distinctNumbers(plain))
    for (const value of figuresOf(number)) held.figures.add(value);
  for (const value of impliedNumbers(plain)) held.figures.add(value);
  for (const value of spelledNumbers(plain)) {
    held.figures.add(value);
    held.numbers.add(value);
  }
}

/** Reads one text. Linear. */
export function readText(text: string): TextFacts {
  const folded = foldWidth(text);
  const plain = plainText(text);
  const values = noValues();
  for (const found of scanValues(folded)) addReading(values, found);
  addFigures(values, plain);
  return {
    folded,
    values,
    phrases: once(() => readPhrases(plain)),
    lines: once(() => readLines(text)),
  };
}

/** As `readText`; each text is read once, however many indexes hold it. */
export function textReader(): TextReader {
  const known = new Map<string, TextFacts>();
  return (text) => {
    const read = known.get(text) ?? readText(text);
    known.set(text, read);
    return read;
  };
}

function addAll<Value>(to: Set<Value>, from: ReadonlySet<Value>): void {
  for (const value of from) to.add(value);
}

export function addValues(to: HeldValues, from: HeldValues): void {
  for (const [kind, readings] of from.readings) {
    const own = to.readings.get(kind) ?? new Set<string>();
    to.readings.set(kind, own);
    addAll(own, readings);
  }
  addAll(to.coarseDates, from.coarseDates);
  addAll(to.numbers, from.numbers);
  addAll(to.figures, from.figures);
}
