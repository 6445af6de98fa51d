import { z } from 'zod';
import type { Recording } from './recording.ts';

/** A value that matters, in all the forms that count for it. */
export interface NamedValue {
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

/** Equal for texts that differ in width, case, blanks or the shape of quotes. */
export const plainForm = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\u2018\u2019]/gu, "'")
    .replaceAll(/\s+/gu, ' ')
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
  const plain = (all: readonly string[]): string => all.map(plainForm).join('\n');
  const user = plain(texts.foldedUser);
  const leftOut = texts.leftOut.map(plainForm);
  const [snapshot, pins, tail, archive, transcript] = [
    texts.snapshot,
    texts.pins,
    texts.tail,
    texts.archive,
    texts.transcript,
  ].map(plain);
  const readings = new Map<string, ValueReading>();
  for (const { name, forms } of values) {
    const said = forms
      .map(plainForm)
      .filter((form) => form.length >= leastCharacters && says(user, form));
    const key = said[0];
    if (key === undefined || readings.has(key)) continue;
    const isIn = (text = ''): boolean => said.some((form) => says(text, form));
    readings.set(key, {
      name,
      said,
      inSnapshot: isIn(snapshot),
      inTail: isIn(tail),
      inPins: isIn(pins),
      isListed: leftOut.some((one) => isIn(one) || said.some((form) => says(form, one))),
      isArchived: isIn(archive),
      isFound: isIn(transcript),
    });
  }
  return [...readings.values()];
}
