import { impliedNumbers, writtenNumbers, type WrittenNumber } from './fact-numbers.ts';
import { factKeysOf, identifiersBeyond, identifiersIn } from './facts.ts';

/** What sources say, to compare with; built once, however often it is asked. */
export interface FactSupport {
  /** Keys of identifiers and single words with digits. */
  keys: ReadonlySet<string>;
  /** Values in plain figures, and the parts of dates. */
  numbers: ReadonlySet<string>;
}

const plainText = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Everything that the texts support. Linear. */
export function factSupportOf(texts: readonly string[]): FactSupport {
  const numbers = new Set<string>();
  for (const text of texts) {
    const plain = plainText(text);
    for (const { values, scaledValues, parts } of writtenNumbers(plain))
      for (const value of [...values, ...scaledValues, ...parts]) numbers.add(value);
    for (const value of impliedNumbers(plain)) numbers.add(value);
  }
  return { keys: factKeysOf(texts), numbers };
}

/** `2.`, `(3)`, `12th` or `Step 14:` before the text of a line, behind a bullet or not. */
const lineNumber =
  /^\s{0,40}(?:[-*•]\s{0,9})?(?:step\s)?(?:\(?\d{1,2}[.):]{1,2}(?=\s|$)|\d{1,2}(?:st|nd|rd|th)\b)/i;

/** Amounts with a unit in capitals and times of day: the number counts, the unit does not. */
const quantity = /^\d+(?:\.\d+)?(?:am|pm|h|kg|km|cm|mm|ml|kb|mb|gb|tb|kwh|usd|eur|gbp|krw|jpy)$/i;
/** Numbers joined by one kind of sign, as in dates: each of them counts. */
const date = /^(?:\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2\d{2,4})$/;

/**
 * Numbers of three digits or more, and decimals. Shorter ones are what a good summary works out itself:
 * counts, ages, the day of "tomorrow"; dropping such lines would lose more than it saves.
 */
const isCheckable = (value: string): boolean => value.includes('.') || value.length >= 3;

function isSupportedNumber(number: WrittenNumber, { numbers }: FactSupport): boolean {
  const { values, scaledValues, parts } = number;
  const readings = [...values, ...scaledValues];
  const isSaid = (value: string) => !isCheckable(value) || numbers.has(value);
  return readings.length > 0 ? readings.some(isSaid) : parts.every(isSaid);
}

const isIn = (value: string, { keys, numbers }: FactSupport): boolean =>
  keys.has(value) || numbers.has(value);

/** Telephone numbers; where another number stands behind one, the source reads as a longer one. */
const groups = /^\+?\d+(?:[ ().-]{1,3}\d+){2,9}$/;

/**
 * `ORD-20231` where the sources say "order 20231", `12-May-2026`, a telephone number written otherwise:
 * all parts with digits are there.
 */
function isComposed(identifier: string, support: FactSupport): boolean {
  if (groups.test(identifier))
    return writtenNumbers(identifier.replaceAll('.', ' ')).every((number) =>
      isSupportedNumber(number, support),
    );
  if (/[@/]/.test(identifier) || !/[a-z]/i.test(identifier)) return false;
  const pieces = identifier.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return pieces.filter((piece) => /\d/.test(piece)).every((piece) => isIn(piece, support));
}

const isNumberOnly = (identifier: string): boolean =>
  /^\d+(?:\.\d+)?$/.test(identifier) || date.test(identifier) || quantity.test(identifier);

/**
 * Identifiers, numbers of three digits or more, and decimals in a line that no source holds, each once.
 * The number of a list item and leading zeros do not matter; of a date only the year counts. Heuristic:
 * large sums that are worked out count as unsupported.
 */
export function unsupportedFacts(line: string, support: FactSupport): string[] {
  const body = line.normalize('NFKC').replace(lineNumber, '');
  const beyond = new Set(identifiersBeyond(body, support.keys));
  const judged = new Set<string>();
  const unknown: string[] = [];
  for (const identifier of identifiersIn(body)) {
    if (beyond.has(identifier)) {
      if (isNumberOnly(identifier)) continue;
      if (!isComposed(identifier, support)) unknown.push(identifier);
    }
    // An identifier is judged as a whole: its numbers may be joined in another way elsewhere.
    for (const { text } of writtenNumbers(identifier.toLowerCase())) judged.add(text);
  }
  const ungrouped = body.toLowerCase().replaceAll(/(\d),(?=\d{3}(?!\d))/g, '$1');
  const numbers = writtenNumbers(ungrouped)
    .filter((number) => !judged.has(number.text) && !isSupportedNumber(number, support))
    .map(({ text }) => text);
  return [...new Set([...unknown, ...numbers])];
}
