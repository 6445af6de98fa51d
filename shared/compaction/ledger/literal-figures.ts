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

/**
 * Numbers of two digits and more that are not part of anything that is read as a figure, such as those
 * inside of words: they can only be compared as they are written.
 */
export function unreadFigures(text: string): string[] {
  const read = new Set(readFigures(text).flatMap((figure) => [...literalFigures(figure)]));
  const unread = runsIn(text.replaceAll(lineNumber, ' ')).filter((figure) => !read.has(figure));
  return [...new Set(unread)].filter((figure) => figure.length > 1);
}
