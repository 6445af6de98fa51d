import { indexFacts, type FactIndex } from '../facts/fact-index.ts';
import { unsupportedValuesIn } from '../facts/unsupported.ts';
import { alignedSentences } from './aligned-text.ts';
import type { SaidSentence } from './cited-turns.ts';
import { literalFigures, unreadFigures } from './literal-figures.ts';
import { topicsOf } from './word-overlap.ts';

export interface Placing {
  sentences: readonly SaidSentence[];
  /** What the item may say anyway: its quote, and what it said before. */
  alsoSaid: readonly string[];
  dayOf: (seq: number) => Date | undefined;
}

/** Whether a number that is read as nothing stands in a text, or is spelled out there. */
export const isFigureSaid = (
  figure: string,
  { figures, index }: { figures: ReadonlySet<string>; index: FactIndex },
): boolean => figures.has(figure) || (figure.length === 1 && index.figures.has(figure));

/**
 * The figures of a statement that its turns may say, but not about the same: they stand in none of the
 * sentences that share its words, nor next to one. Empty where no sentence is about the same.
 */
export function misplacedFigures(
  statement: { text: string; words: ReadonlySet<string> },
  { sentences, alsoSaid, dayOf }: Placing,
): string[] {
  const aligned = alignedSentences(topicsOf(statement.words), sentences);
  if (aligned === undefined || aligned.length === sentences.length) return [];
  const said = [...aligned.map(({ text }) => text), ...alsoSaid].join('\n');
  const days = [...new Set(aligned.map(({ seq }) => seq))].flatMap((seq) => dayOf(seq) ?? []);
  const index = indexFacts([said], days);
  const figures = literalFigures(said);
  const unread = unreadFigures(statement.text).filter(
    (figure) => !isFigureSaid(figure, { figures, index }),
  );
  return [...new Set([...unsupportedValuesIn(statement.text, index), ...unread])];
}
