import { fillers } from '../languages/common-words.ts';
import { findEasternNames } from '../languages/eastern-names.ts';
import { type FactMatch, findAll } from '../index/fact-match.ts';
import { findNames } from '../values/names.ts';
import { foldWidth, plainText } from '#shared/text/plain-text.ts';
import { scanValues } from '../index/fact-finders.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';

/** `What about a love story by …`: two words or three; one alone is seldom a value (a place, a restaurant). */
const wanted =
  /\b(?:(?:what|how) about|find me|show me|recommend me|recommend)\s(?:an?|some|any)\s(?!lot|bit|few|new|nice|good|other|more|different)([a-z]+(?:[ -](?!directed|starring|called|named)[a-z]+){1,2}?)(?=\s(?:directed|starring|by|in|with|near|from|for|that|which|at|on|to|where|who|around|please|too|then|instead)\b|[.,?!]|$)/dgi;

/** What a user of English asks for in common words. Heuristic: the words up to a preposition or a sign. */
export const findWantedThings = (text: string): FactMatch[] =>
  findAll(text, wanted, (match) => {
    const [start, end] = match.indices?.[1] ?? [0, 0];
    return { kind: 'term', start, end, readings: [plainText(text.slice(start, end))] };
  });

const VALUE_CHARACTERS = { least: 2, most: 60 };
/** Bounds of what is looked for, so that looking stays linear. */
const VALUES_MAX = 4_000;
const VALUES_BY_START_MAX = 40;
const DEPTH_MAX = 16;

/** Values by their first two characters, the longest first. */
export type StatedValues = ReadonlyMap<string, readonly string[]>;

function collectStrings(value: unknown, depth: number, strings: string[]): void {
  if (typeof value === 'string') strings.push(value);
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX)
    for (const member of Object.values(value)) collectStrings(member, depth + 1, strings);
}

function argumentsOf(text: string): string[] {
  const strings: string[] = [];
  try {
    collectStrings(JSON.parse(text.slice(text.indexOf('{'))), 0, strings);
  } catch {
    // Cut to its bound: nothing is known of its values.
  }
  return strings;
}

/** `A、B和C` in a Chinese or Japanese answer: what stands between the commas are names. */
const listed =
  /(?<=[、，,有是：:为去荐给。 ])([^、，。！？；：,\n()（）]{2,20}(?:[(（][^()（）\n]{1,16}[)）])?)(?=[、和。等,，这]|$)/gu;

function namesOfModel(text: string): string[] {
  const folded = foldWidth(text);
  const names = findNames(folded)
    .filter((found) => found.isWeak !== true && found.end - found.start > 3)
    .map((found) => folded.slice(found.start, found.end));
  if (!/\p{sc=Han}/u.test(text)) return names;
  const eastern = findEasternNames(folded)
    .filter(({ kind }) => kind === 'name')
    .map((found) => folded.slice(found.start, found.end));
  return [...names, ...eastern, ...(text.match(listed) ?? []).filter((name) => name.length > 2)];
}

/** Dates, codes and numbers are found by their form. */
function isOtherFact(value: string): boolean {
  if (!/[\d@/]/.test(value)) return false;
  if (/^[\d\s.,:/-]*$/.test(value)) return true;
  return scanValues(value).some(({ start, end }) => end - start === value.length);
}

/** Whether a value is in a script without capitals: then it may begin with a number (7天酒店). */
export const isEastern = (value: string): boolean =>
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u.test(value);

/**
 * What the model asked of tools and named itself. When a user says it too, it is a value of the
 * conversation rather than a word. Bounded to 4,000 values.
 */
export function statedValues(utterances: readonly Utterance[]): StatedValues {
  const values = new Set<string>();
  const others = new Set<string>();
  for (const { speaker, text } of utterances) {
    if (values.size >= VALUES_MAX) break;
    const strings =
      speaker === 'call' ? argumentsOf(text) : speaker === 'model' ? namesOfModel(text) : [];
    for (const string of strings) {
      const value = plainText(string).trim();
      const isPlausible =
        value.length >= VALUE_CHARACTERS.least && value.length <= VALUE_CHARACTERS.most;
      if (!isPlausible || fillers.has(value) || values.has(value) || others.has(value)) continue;
      (isOtherFact(value) ? others : values).add(value);
    }
  }
  const byStart = new Map<string, string[]>();
  for (const value of [...values].toSorted((a, b) => b.length - a.length)) {
    const start = value.slice(0, 2);
    const same = byStart.get(start) ?? [];
    if (same.length < VALUES_BY_START_MAX) byStart.set(start, [...same, value]);
  }
  return byStart;
}

const isLatin = (character: string | undefined): boolean =>
  character !== undefined && /[\p{sc=Latin}\p{M}\d_]/u.test(character);

/** Whether a value stands alone: letters of spaced scripts do not go on before and behind it. */
function isWhole(text: string, start: number, end: number): boolean {
  const isOpenBefore = isLatin(text[start]) && isLatin(text[start - 1]);
  return !isOpenBefore && !(isLatin(text[end - 1]) && isLatin(text[end]));
}

/** Two characters as one number, which is cheaper to look up than a text. */
const pairOf = (first: number, second: number): number => first * 65_536 + second;
const knownStarts = new WeakMap<StatedValues, ReadonlySet<number>>();

/** The first two characters of all values. */
function startsOf(values: StatedValues): ReadonlySet<number> {
  const known = knownStarts.get(values);
  if (known !== undefined) return known;
  const starts = new Set(
    [...values.keys()].map((start) => pairOf(start.charCodeAt(0), start.charCodeAt(1))),
  );
  knownStarts.set(values, starts);
  return starts;
}

const isAsciiLetter = (code: number): boolean => code >= 97 && code <= 122;

/** Where a user's text says such a value. */
export function findStatedValues(text: string, values: StatedValues): FactMatch[] {
  if (values.size === 0) return [];
  const lower = text.toLowerCase();
  // Some letters change their length in lower case; then places would not be those of the text.
  if (lower.length !== text.length) return [];
  const found: FactMatch[] = [];
  const starts = startsOf(values);
  for (let at = 0, before = 0; at + 1 < lower.length; at++) {
    const code = lower.charCodeAt(at);
    // Within a word no value begins; most places of a text are spared by that.
    const isWithin = isAsciiLetter(code) && isAsciiLetter(before);
    before = code;
    if (isWithin || !starts.has(pairOf(code, lower.charCodeAt(at + 1)))) continue;
    const value = values
      .get(lower.slice(at, at + 2))
      ?.find((one) => lower.startsWith(one, at) && isWhole(lower, at, at + one.length));
    if (value === undefined) continue;
    found.push({ kind: 'name', start: at, end: at + value.length, readings: [value] });
    at += value.length - 1;
    before = lower.charCodeAt(at);
  }
  return found;
}
