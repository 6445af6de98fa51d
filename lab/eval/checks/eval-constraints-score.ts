import { z } from 'zod';
import type { FactKind } from '#shared/compaction/facts/index/fact.ts';
import {
  indexFacts,
  isHeld,
  keyOfReadings,
  type FactIndex,
  type LookedUp,
} from '#shared/compaction/facts/index/fact-index.ts';
import { scanValues } from '#shared/compaction/facts/index/fact-finders.ts';
import { once } from '#shared/once.ts';
import type { Recording } from '../replay/recording.ts';

/** A value that matters, in all the forms that count for it. */
interface NamedValue {
  name: string;
  forms: string[];
}

const metaSchema = z.looseObject({
  meta: z.looseObject({ expectedArgs: z.array(z.union([z.string(), z.number()])) }),
});
const alternativesSchema = z.looseObject({ alternatives: z.array(z.string()) });

/** A single character stands in any text. */
const leastCharacters = 2;

/**
 * What a recording says that matters: the arguments that its task needs (`meta.expectedArgs`), or the final
 * values of its slots (probes of the category `slot`).
 */
export function valuesOf(recording: Recording): NamedValue[] {
  const needed = metaSchema.safeParse(recording);
  if (needed.success)
    return needed.data.meta.expectedArgs.map((each) => ({
      name: String(each),
      forms: [String(each)],
    }));
  return (recording.probes ?? [])
    .filter(({ category }) => category === 'slot')
    .flatMap((probe) => {
      if (probe.answer === undefined || probe.answer === null) return [];
      const more = alternativesSchema.safeParse(probe);
      const forms = [String(probe.answer), ...(more.success ? more.data.alternatives : [])];
      return [{ name: probe.id, forms }];
    });
}

/** Equal for texts that differ in width, case, blanks (also those beside a dash) or the shape of quotes. */
const plainForm = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\u2018\u2019]/gu, "'")
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/ ?([-\u2013~]) ?/gu, '$1')
    .trim();

const goesOn = /[\p{sc=Latin}\p{N}_]/u;

/** Whether a plain text says a plain value as a whole: letters and figures of it do not go on on either side. */
export function says(text: string, value: string): boolean {
  if (value === '') return false;
  const isOpen = (one: string | undefined, other: string | undefined): boolean =>
    one !== undefined && other !== undefined && goesOn.test(one) && goesOn.test(other);
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    if (!isOpen(text[at - 1], value[0]) && !isOpen(value.at(-1), text[end])) return true;
  }
  return false;
}

/** Kinds with several notations for one value: 7 March is March 7th and 03-07. */
const notated: ReadonlySet<FactKind> = new Set(['date', 'time']);

/** The date or time that a value is as a whole. */
const notatedIn = (value: string): LookedUp[] =>
  scanValues(value)
    .filter(({ kind, start, end }) => notated.has(kind) && end - start === value.length)
    .map(({ kind, readings }) => ({ kind, key: keyOfReadings(readings), text: value }));

/** Texts of one place: as they are compared, and the dates and times in them. */
interface Place {
  plain: string;
  index: () => FactIndex;
}

const placeOf = (texts: readonly string[]): Place => ({
  plain: texts.map(plainForm).join('\n'),
  index: once(() => indexFacts(texts)),
});

/** Whether a place says one of the forms, a date or a time in any notation. */
const holds = ({ plain, index }: Place, forms: readonly string[]): boolean =>
  forms.some(
    (form) => says(plain, form) || notatedIn(form).some((value) => isHeld(value, index())),
  );

/** The texts between which values are looked for. */
export interface ValueTexts {
  /** What the user says in the folded turns. */
  foldedUser: readonly string[];
  snapshot: readonly string[];
  pins: readonly string[];
  tail: readonly string[];
  /** What verification says is missing. */
  leftOut: readonly string[];
  archive: readonly string[];
  /** What the user says in all stored turns. */
  transcript: readonly string[];
}

export interface ValueReading {
  name: string;
  /** The forms in which the user says it. */
  said: string[];
  inSnapshot: boolean;
  inTail: boolean;
  inPins: boolean;
  isListed: boolean;
  isArchived: boolean;
  isFound: boolean;
}

export const isPresent = ({ inSnapshot, inTail, inPins }: ValueReading): boolean =>
  inSnapshot || inTail || inPins;

/** Where the values are that the user says in the folded turns; each value once. */
export function readValues(values: readonly NamedValue[], texts: ValueTexts): ValueReading[] {
  const user = texts.foldedUser.map(plainForm).join('\n');
  const leftOut = texts.leftOut.map(plainForm);
  const snapshot = placeOf(texts.snapshot);
  const pins = placeOf(texts.pins);
  const tail = placeOf(texts.tail);
  const archive = placeOf(texts.archive);
  const transcript = placeOf(texts.transcript);
  const readings = new Map<string, ValueReading>();
  for (const { name, forms } of values) {
    const said = forms
      .map(plainForm)
      .filter((form) => form.length >= leastCharacters && says(user, form));
    const key = said[0];
    if (key === undefined || readings.has(key)) continue;
    readings.set(key, {
      name,
      said,
      inSnapshot: holds(snapshot, said),
      inTail: holds(tail, said),
      inPins: holds(pins, said),
      isListed: leftOut.some((one) => said.some((form) => says(one, form) || says(form, one))),
      isArchived: holds(archive, said),
      isFound: holds(transcript, said),
    });
  }
  return [...readings.values()];
}
