import { indexFacts } from '../facts/fact-index.ts';
import { unsupportedIn } from '../facts/unsupported.ts';

const run = /\d+(?:[.,]\d+)*/g;
const thousands = /(\d),(?=\d{3}(?!\d))/g;
/** The number of an item in a list. */
const lineNumber = /^\s{0,12}(?:[-*•]\s{1,4})?\(?\d{1,3}[.):]{1,2}(?=\s)/gm;

const runsIn = (text: string): string[] =>
  text.normalize('NFKC').replaceAll(thousands, '$1').match(run) ?? [];

/** Every run of digits in a text, and the parts of decimals and dates. Linear. */
export const literalFigures = (text: string): ReadonlySet<string> =>
  new Set(runsIn(text).flatMap((figure) => [figure, ...figure.split(/[.,]/)]));

const nothingSaid = indexFacts([]);

/** What is read as a figure, an identifier or a date wherever it stands, as written. */
export const readFigures = (text: string): string[] => unsupportedIn(text, nothingSaid);

/** `2nd`, `第2`: a place in an order, which anybody may count. */
const ordinal = /(?<![\d.,])\d(?=st\b|nd\b|rd\b|th\b)|(?<=第)\d(?!\d)/gu;

/**
 * Numbers that are not part of anything that is read as a figure: single digits, and those inside of words,
 * which can only be compared as they are written. None and one need not be said as a figure.
 */
export function unreadFigures(text: string): string[] {
  const read = new Set(readFigures(text).flatMap((figure) => [...literalFigures(figure)]));
  const unread = runsIn(text.replaceAll(lineNumber, ' ').replaceAll(ordinal, ' '));
  return [...new Set(unread)].filter((figure) => !read.has(figure) && !/^[01]$/.test(figure));
}
