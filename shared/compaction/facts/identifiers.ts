import type { Found } from './found.ts';

const quantity =
  /^\d+(?:[.,]\d+)?(?:st|nd|rd|th|s|x|k|m|am|pm|h|d|w|y|kg|km|cm|mm|ml|kb|mb|gb|tb|px|em|ms|min|sec|mph|hrs?|fps|hz|khz|mhz|ghz|usd|eur|gbp|krw|jpy|g|l|lb|lbs|oz|ft|mi|p)$/i;
const numbered = /^(?:v|step|part|day|week|month|year|page|room|level|phase|q|h)[-_.]?\d{1,2}$/i;
/** Digits in a run that make it a reference rather than a number. */
const REFERENCE_DIGITS = 6;

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

function digitsIn(text: string): number {
  let digits = 0;
  for (let at = 0; at < text.length; at++) if (isDigit(text.charCodeAt(at))) digits += 1;
  return digits;
}

/** `v2.3.1`, `3.11.4`: a version is a value that people refer to. */
const version = /^v?\d+(?:\.\d+){2,3}(?:-[a-z0-9.]+)?$/i;
/** `100-150`, `2020-2023`: from one number to another. */
const range = /^\d{1,4}-\d{1,4}$/;
const snake = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/i;

/** Identifiers joined from words alone (camel case, snake case) say less: they are of code. */
function strengthOf(text: string): 'strong' | 'weak' | undefined {
  if (/^#\d+$/.test(text) || version.test(text)) return 'strong';
  const digits = digitsIn(text);
  if (/^\d+$/.test(text)) return digits >= REFERENCE_DIGITS ? 'strong' : undefined;
  const hasLetters = /[A-Za-z]/.test(text);
  if (range.test(text)) return undefined;
  if (!hasLetters) return /^\d+(?:[-_:]\d+)+$/.test(text) && digits >= 6 ? 'strong' : undefined;
  if (quantity.test(text) || numbered.test(text)) return undefined;
  if (digits >= 2 && text.length >= 4) return 'strong';
  if (digits >= 1 && /^[A-Z0-9-]{4,}$/.test(text)) return 'strong';
  if (digits >= 1 && /^[A-Z]{1,3}\d{1,4}[A-Z]?$/.test(text)) return 'strong';
  if (snake.test(text)) return digits > 0 ? 'strong' : 'weak';
  return digits >= 1 && text.length >= 5 ? 'weak' : undefined;
}

export const identifierKey = (text: string): string => text.toLowerCase().replace(/^#/, '');

/** Characters of an identifier, `.` and `:` within it included, by their code. */
const inWord: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9_.:#-]/.test(String.fromCharCode(code)),
);
const isInWord = (text: string, at: number): boolean => inWord[text.charCodeAt(at)] === true;
const edges = /^[_.:-]{1,9}|[_.:#-]{1,9}$/g;
/** Longer runs are data. */
const IDENTIFIER_CHARACTERS = 80;
const telling = /[0-9_]/g;

/** The run of word characters around a place; empty where it is too long for an identifier. */
function runAround(text: string, place: number): { start: number; end: number } {
  let start = place;
  let end = place + 1;
  while (start > 0 && isInWord(text, start - 1)) start -= 1;
  while (end < text.length && isInWord(text, end)) end += 1;
  return { start, end };
}

/** The identifier in a run without the signs around it; several joined by `::` or `:` are one. */
function readRun(text: string, start: number, end: number): Found | undefined {
  if (end - start > IDENTIFIER_CHARACTERS) return undefined;
  if (text[start - 1] === '@' || text[end] === '@') return undefined;
  const run = text.slice(start, end);
  const lead = /^[_.:-]{1,9}/.exec(run)?.[0].length ?? 0;
  const written = run.replace(edges, '');
  const strength = strengthOf(written);
  if (strength === undefined || /[^A-Za-z0-9]{3}/.test(written)) return undefined;
  const place = { start: start + lead, end: start + lead + written.length };
  const found: Found = { kind: 'identifier', ...place, readings: [identifierKey(written)] };
  return strength === 'weak' ? { ...found, isWeak: true } : found;
}

/**
 * Order numbers, user names, codes, versions: words with letters and digits, `#` with figures, runs of
 * six figures or more. Heuristic: quantities (100km), ranges and numbered words (step-2) are none.
 */
export function findIdentifiers(text: string): Found[] {
  const found: Found[] = [];
  telling.lastIndex = 0;
  for (let match = telling.exec(text); match !== null; match = telling.exec(text)) {
    const { start, end } = runAround(text, match.index);
    const one = readRun(text, start, end);
    if (one !== undefined) found.push(one);
    telling.lastIndex = end;
  }
  return found;
}
