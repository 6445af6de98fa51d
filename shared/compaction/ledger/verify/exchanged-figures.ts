import { indexFacts, type FactIndex } from '#shared/compaction/facts/index/fact-index.ts';
import { foldWidth } from '#shared/text/plain-text.ts';
import { findRelativeDates } from '#shared/compaction/facts/values/relative-dates.ts';
import { placesSaidIn } from '#shared/compaction/facts/index/unsupported.ts';

/** Dates, times, ranges and amounts are one figure each. */
const figure = /\d+(?:[.,:/-]\d+)*/g;
const thousands = /(\d),(?=\d{3}(?!\d))/g;
/** The number of an item in a list. */
const lineNumber = /^[ \t]{0,12}\(?\d{1,3}[.)](?=\s)/;

interface WrittenFigure {
  text: string;
  start: number;
  end: number;
}

const figuresIn = (folded: string): WrittenFigure[] =>
  Array.from(folded.matchAll(figure), (match) => ({
    text: match[0].replaceAll(thousands, '$1'),
    start: match.index,
    end: match.index + match[0].length,
  }));

const withoutLineNumber = (text: string): string =>
  foldWidth(text).replace(lineNumber, (found) => ' '.repeat(found.length));

/** The figures of a text as written, but for the number of a list item. */
export const writtenFigures = (text: string): string[] =>
  figuresIn(withoutLineNumber(text)).map((found) => found.text);

/** A text as its figures are compared with those of another one. */
interface FiguredText {
  folded: string;
  figures: readonly WrittenFigure[];
  index: FactIndex;
}

const fullDate = /^\d{4}-\d\d-\d\d$/;

/** `saidAt`: the day from which `tomorrow` counts; by itself it is no figure of the text. */
export function figuredText(text: string, saidAt?: Date): FiguredText {
  const folded = withoutLineNumber(text);
  const days =
    saidAt === undefined
      ? []
      : findRelativeDates(folded, saidAt).flatMap(({ readings }) => readings);
  return {
    folded,
    figures: figuresIn(folded),
    index: indexFacts([folded, ...days.filter((day) => fullDate.test(day))]),
  };
}

/** Those of the first text that are left when each of the second has taken one like it away. */
function unmatched(one: FiguredText, other: FiguredText): WrittenFigure[] {
  const counts = new Map<string, number>();
  for (const { text } of other.figures) counts.set(text, (counts.get(text) ?? 0) + 1);
  return one.figures.filter(({ text }) => {
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count <= 0;
  });
}

/** `2026-05-20` and `10:31:32` as `dddd-dd-dd` and `dd:dd:dd`. */
const formOf = (text: string): string => text.replaceAll(/\d/g, 'd');
/** Of three parts and more: one that is written in the same way is the same, or another one. */
const isLong = (text: string): boolean => /\d[.,:/-]\d+[.,:/-]\d/.test(text);

/** Of figures that one text has and the other has not: those that it does not say in another notation either. */
function unsaid(
  figures: readonly WrittenFigure[],
  text: FiguredText,
  other: FiguredText,
): WrittenFigure[] {
  if (figures.length === 0) return [];
  const said = placesSaidIn(text.folded, other.index);
  const written = new Set(other.figures.map((found) => found.text));
  const forms = new Set(
    other.figures.filter((found) => isLong(found.text)).map((found) => formOf(found.text)),
  );
  return figures.filter((found) => {
    if (written.has(found.text) || forms.has(formOf(found.text))) return true;
    if (other.index.numbers.has(found.text)) return false;
    return !said.some(({ start, end }) => start <= found.start && found.end <= end);
  });
}

/**
 * The figures of a statement that stand where the sentence that it is like has other ones, in any notation.
 * A figure more, or less, is no exchange.
 */
export function exchangedFigures(statement: FiguredText, sentence: FiguredText): string[] {
  const foreign = unsaid(unmatched(statement, sentence), statement, sentence);
  if (foreign.length === 0) return [];
  const lacking = unsaid(unmatched(sentence, statement), sentence, statement);
  return lacking.length === 0 ? [] : foreign.map(({ text }) => text);
}
