import { snapshotConstants } from './snapshot-constants.ts';

/** One run without blanks that may be a link, an address or an identifier. Classes only: linear. */
const run = /[A-Za-z0-9#+][A-Za-z0-9._%+\-/:#@?=&~]*/g;
/** Words and numbers joined by `-`, `_` or `.`. */
const word = /#?[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*/g;
/** Telephone numbers written with blanks; others are words. */
const spacedPhone = /(?<![A-Za-z0-9])(?:\+|\(0|0)\d[\d ().-]{5,22}\d/g;
const thousands = /(\d),(?=\d{3}(?!\d))/g;
const trailing = /[.,:;?!&#=+\-/~]{1,10}$/;
const quantity = /^\d+(?:\.\d+)?[a-z]{1,5}$/;

const twoNumbers = /^(\d{1,4})-(\d{1,4})$/;

interface Fact {
  /** As written. */
  text: string;
  /** Equal for equal facts: lower case; figures only, where it is a number with separators. */
  key: string;
}

function digitsIn(text: string): number {
  return text.replaceAll(/[^0-9]/g, '').length;
}

function keyOf(text: string): string {
  const plain = text.toLowerCase().replace(/^#/, '');
  return /[a-z]/.test(plain) ? plain : plain.replaceAll(/[^0-9]/g, '');
}

/** `100-150`, `2020-2023`: from one amount or year to another; `555-1234` is a telephone number. */
function isRange(text: string): boolean {
  const [, from = '', to = ''] = twoNumbers.exec(text) ?? [];
  return from !== '' && (from.length === to.length || from.length + to.length < 7);
}

function isIdentifier(text: string): boolean {
  if (isRange(text)) return false;
  const digits = digitsIn(text);
  if (digits >= snapshotConstants.identifierDigits.value) return true;
  if (digits < 2 || quantity.test(text)) return false;
  return text.startsWith('#') || (/[A-Za-z]/.test(text) && text.length >= 4);
}

/** Plain words, nearly all of a text, can hold no fact. */
const promising = /[0-9@]|:\/\//;

/** Links and e-mail addresses are one fact; any other run is taken apart into words. */
function piecesOf(found: string): { text: string; isWhole: boolean }[] {
  if (!promising.test(found)) return [];
  const text = found.replace(trailing, '');
  const isLink = /^https?:\/\/./i.test(text);
  const isAddress = /^[^@/]+@[^@/]+\.[A-Za-z]{2,}$/.test(text);
  if (isLink || isAddress) return [{ text, isWhole: true }];
  return (text.match(word) ?? []).map((piece) => ({ text: piece, isWhole: false }));
}

function normalised(text: string): string {
  return text.normalize('NFKC').replaceAll(thousands, '$1');
}

function isPhone(found: string): boolean {
  const digits = digitsIn(found);
  return /\d[ ()]/.test(found) && digits >= 7 && digits <= 15;
}

/** Telephone numbers with blanks, and the text without them: their halves are no identifiers. */
function takePhones(text: string): { phones: string[]; rest: string } {
  const phones: string[] = [];
  const rest = normalised(text).replaceAll(spacedPhone, (found) => {
    if (!isPhone(found)) return found;
    phones.push(found);
    return ' ';
  });
  return { phones, rest };
}

function factOf(text: string): Fact {
  return { text, key: keyOf(text) };
}

function factsIn(text: string): Fact[] {
  const { phones, rest } = takePhones(text);
  const facts: Fact[] = [];
  for (const [found] of rest.matchAll(run))
    for (const piece of piecesOf(found))
      if (piece.isWhole || isIdentifier(piece.text)) facts.push(factOf(piece.text));
  return [...facts, ...phones.map(factOf)];
}

/** Keys of everything in a text that could stand for a fact, single words of joined ones included. */
function keysIn(text: string, keys: Set<string>): void {
  const { phones, rest } = takePhones(text);
  for (const phone of phones) keys.add(keyOf(phone));
  for (const [found] of rest.matchAll(run))
    for (const piece of piecesOf(found)) {
      keys.add(keyOf(piece.text));
      for (const single of piece.text.match(/[A-Za-z0-9]+/g) ?? []) keys.add(keyOf(single));
    }
}

function distinct(facts: readonly Fact[]): Fact[] {
  return [...new Map(facts.toReversed().map((fact) => [fact.key, fact])).values()].toReversed();
}

/**
 * Identifiers in a text, each once, in order (telephone numbers with blanks last): words with letters and at least two digits (AB12CD,
 * ORD-20231), `#` and two digits or more, five digits or more, e-mail addresses, links, telephone
 * numbers. A heuristic: quantities (100km), ranges and years stay out, names without digits are not seen.
 * Full-width characters count as plain ones. Linear.
 */
export function identifiersIn(text: string): string[] {
  return distinct(factsIn(text)).map((fact) => fact.text);
}

/** What a text is compared with: keys of everything in these texts that could stand for a fact. */
export function factKeysOf(texts: readonly string[]): Set<string> {
  const keys = new Set<string>();
  for (const text of texts) keysIn(text, keys);
  return keys;
}

/** Identifiers of a text whose key is not among `keys`, each once. */
export function identifiersBeyond(text: string, keys: ReadonlySet<string>): string[] {
  return distinct(factsIn(text))
    .filter((fact) => !keys.has(fact.key))
    .map((fact) => fact.text);
}

/**
 * Identifiers of `userTexts` that no text of `contextTexts` contains, each once. Case, thousands
 * separators and the punctuation of numbers do not matter; a longer number does not count as its part.
 */
export function missingIdentifiers(
  userTexts: readonly string[],
  contextTexts: readonly string[],
): string[] {
  const present = factKeysOf(contextTexts);
  return distinct(userTexts.flatMap(factsIn))
    .filter((fact) => !present.has(fact.key))
    .map((fact) => fact.text);
}
