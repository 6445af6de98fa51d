import type { FactMatch } from '../index/fact-match.ts';

const quantity =
  /^\d+(?:[.,]\d+)?(?:st|nd|rd|th|s|x|k|m|am|pm|h|d|w|y|kg|km|cm|mm|ml|kb|mb|gb|tb|px|em|ms|min|sec|mph|hrs?|fps|hz|khz|mhz|ghz|usd|eur|gbp|krw|jpy|g|l|lb|lbs|oz|ft|mi|p)$/i;
const numbered = /^(?:v|step|part|day|week|month|year|page|room|level|phase|q|h)[-_.]?\d{1,2}$/i;
/** Digits in a run that make it a reference rather than a number. */
const REFERENCE_DIGITS = 6;

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

const isLetter = (code: number): boolean => {
  const small = code | 32;
  return small >= 97 && small <= 122;
};

/** How many figures and letters a text has. */
interface Signs {
  digits: number;
  letters: number;
}

function signsIn(text: string): Signs {
  const signs = { digits: 0, letters: 0 };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isLetter(code)) signs.letters += 1;
    else if (isDigit(code)) signs.digits += 1;
  }
  return signs;
}

/** `v2.3.1`, `3.11.4`: a version is a value that people refer to. */
const version = /^v?\d+(?:\.\d+){2,3}(?:-[a-z0-9.]+)?$/i;
/** `100-150`, `2020-2023`: from one number to another. */
const range = /^\d{1,4}-\d{1,4}$/;
const snake = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/i;

/** Figures and signs alone. */
function strengthOfFigures(text: string, digits: number): 'strong' | undefined {
  if (/^#\d+$/.test(text) || (text.includes('.') && version.test(text))) return 'strong';
  if (digits < REFERENCE_DIGITS || range.test(text)) return undefined;
  return digits === text.length || /^\d+(?:[-_:]\d+)+$/.test(text) ? 'strong' : undefined;
}

/**
 * Identifiers joined from words alone (camel case, snake case) say less: they are of code. Figures and letters are
 * counted first: that spares most of the expressions.
 */
function strengthOf(text: string, { digits, letters }: Signs): 'strong' | 'weak' | undefined {
  if (letters === 0) return strengthOfFigures(text, digits);
  if (text.includes('.') && version.test(text)) return 'strong';
  if (isDigit(text.charCodeAt(0)) && quantity.test(text)) return undefined;
  if (digits <= 2 && numbered.test(text)) return undefined;
  if (digits >= 2 && text.length >= 4) return 'strong';
  if (digits >= 1 && /^[A-Z0-9-]{4,}$/.test(text)) return 'strong';
  if (digits >= 1 && /^[A-Z]{1,3}\d{1,4}[A-Z]?$/.test(text)) return 'strong';
  if (snake.test(text)) return digits > 0 ? 'strong' : 'weak';
  return digits >= 1 && text.length >= 5 ? 'weak' : undefined;
}

function identifierKey(text: string): string {
  const lower = text.toLowerCase();
  return lower.startsWith('#') ? lower.slice(1) : lower;
}

/** Which ASCII characters an expression takes, by their code. */
function codesOf(pattern: RegExp): readonly boolean[] {
  return Array.from({ length: 128 }, (_, code) => pattern.test(String.fromCharCode(code)));
}

/** Characters of an identifier, `.` and `:` within it included, by their code. */
const inWord = codesOf(/[A-Za-z0-9_.:#-]/);
const isInWord = (text: string, at: number): boolean => inWord[text.charCodeAt(at)] === true;
/** Signs that stand around an identifier rather than in it. */
const leading = codesOf(/[_.:-]/);
const trailing = codesOf(/[_.:#-]/);
/** Of them on each side; more are no edge. */
const EDGE_SIGNS = 9;
/** Longer runs are data. */
const IDENTIFIER_CHARACTERS = 80;
const telling = /[0-9_]/g;

/** The run of word characters around a place. */
function runAround(text: string, place: number): { start: number; end: number } {
  let start = place;
  let end = place + 1;
  while (start > 0 && isInWord(text, start - 1)) start -= 1;
  while (end < text.length && isInWord(text, end)) end += 1;
  return { start, end };
}

/** The run without the signs at its ends. */
function withoutEdges(text: string, run: { start: number; end: number }) {
  let { start, end } = run;
  while (start < end && start - run.start < EDGE_SIGNS && leading[text.charCodeAt(start)] === true)
    start += 1;
  while (end > start && run.end - end < EDGE_SIGNS && trailing[text.charCodeAt(end - 1)] === true)
    end -= 1;
  return { start, end };
}

/** The identifier in a run without the signs around it; several joined by `::` or `:` are one. */
function readRun(text: string, run: { start: number; end: number }): FactMatch | undefined {
  if (run.end - run.start > IDENTIFIER_CHARACTERS) return undefined;
  if (text[run.start - 1] === '@' || text[run.end] === '@') return undefined;
  const { start, end } = withoutEdges(text, run);
  const written = text.slice(start, end);
  const signs = signsIn(written);
  const strength = strengthOf(written, signs);
  if (strength === undefined) return undefined;
  const others = written.length - signs.digits - signs.letters;
  if (others > 2 && /[^A-Za-z0-9]{3}/.test(written)) return undefined;
  const readings = [identifierKey(written)];
  return strength === 'weak'
    ? { kind: 'identifier', start, end, readings, isWeak: true }
    : { kind: 'identifier', start, end, readings };
}

/**
 * Order numbers, user names, codes, versions: words with letters and digits, `#` with figures, runs of
 * six figures or more. Heuristic: quantities (100km), ranges and numbered words (step-2) are none.
 */
export function findIdentifiers(text: string): FactMatch[] {
  const found: FactMatch[] = [];
  telling.lastIndex = 0;
  for (let hit = telling.test(text); hit; hit = telling.test(text)) {
    const run = runAround(text, telling.lastIndex - 1);
    const one = readRun(text, run);
    if (one !== undefined) found.push(one);
    telling.lastIndex = run.end;
  }
  return found;
}
