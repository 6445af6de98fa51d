import { precisionConstants } from '#shared/compaction/policy/precision-constants.ts';
import type { SaidSentence } from '../operations/cited-turns.ts';
import { exchangedFigures, figuredText, writtenFigures } from './exchanged-figures.ts';
import { overlapShare, distinctWords } from '#shared/text/words.ts';

/** A statement as it is compared with what was said. */
interface Compared {
  text: string;
  words: ReadonlySet<string>;
}

/**
 * The figures of a statement for which its own quote, of nearly the same words, has other ones. What the quote
 * is taken from is what the statement is about, even where somebody says those figures as well.
 */
export function exchangedAgainst(quote: string, { text, words }: Compared): string[] {
  const isTwin = overlapShare(words, distinctWords(quote)) >= precisionConstants.twinOverlap.value;
  return isTwin ? exchangedFigures(figuredText(text), figuredText(quote)) : [];
}

/** What a comparison with the sentences like a statement shows. */
type Comparison =
  /** It has no figures, or one of the sentences writes them all. */
  | { kind: 'held' }
  /** No sentence is like it, or none has other figures instead. */
  | { kind: 'open' }
  /** The sentence in the words of the statement has others for these figures. */
  | { kind: 'exchanged'; figures: string[]; sentence: SaidSentence };

/** Those that a statement is nearly word for word: the most alike, and those hardly less so. */
function twinsOf({ words }: Compared, sentences: readonly SaidSentence[]): SaidSentence[] {
  const { twinOverlap, twinOverlapMargin } = precisionConstants;
  const scored = sentences
    .map((sentence) => ({ sentence, overlap: overlapShare(words, sentence.words) }))
    .filter(({ overlap }) => overlap >= twinOverlap.value);
  const best = scored.reduce((most, { overlap }) => Math.max(most, overlap), 0);
  const texts = new Map(
    scored
      .filter(({ overlap }) => overlap >= best - twinOverlapMargin.value)
      .map(({ sentence }): [string, SaidSentence] => [sentence.text, sentence]),
  );
  // The later first: what was said last holds.
  return [...texts.values()].toReversed();
}

/** Whether a list has each of `wanted`, as often as it stands there. */
function holdsAll(figures: readonly string[], wanted: readonly string[]): boolean {
  const left = [...figures];
  return wanted.every((figure) => {
    const at = left.indexOf(figure);
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  });
}

/** Fewer figures, or such that come later in the statement: what it is about comes first. */
function isLess(one: readonly string[], other: readonly string[], own: readonly string[]): boolean {
  const firstOf = ([first = '']: readonly string[]): number => own.indexOf(first);
  return (
    one.length < other.length || (one.length === other.length && firstOf(one) > firstOf(other))
  );
}

/**
 * Compares a statement with the sentences that it repeats nearly word for word: whether one of them has its
 * figures, or all of them have other ones. `known` are figures that the item may say anyway.
 */
export function compareNearDuplicates(
  statement: Compared,
  sentences: readonly SaidSentence[],
  { dayOf, known }: { dayOf: (seq: number) => Date | undefined; known: ReadonlySet<string> },
): Comparison {
  const own = writtenFigures(statement.text).filter((figure) => !known.has(figure));
  if (own.length === 0) return { kind: 'held' };
  const twins = twinsOf(statement, sentences);
  if (twins.some(({ text }) => holdsAll(writtenFigures(text), own))) return { kind: 'held' };
  const figured = figuredText(statement.text);
  let least: Extract<Comparison, { kind: 'exchanged' }> | undefined;
  for (const sentence of twins.slice(0, precisionConstants.twinLimit.value)) {
    const said = figuredText(sentence.text, dayOf(sentence.seq));
    const figures = exchangedFigures(figured, said).filter((figure) => !known.has(figure));
    if (figures.length === 0) return { kind: 'open' };
    if (least === undefined || isLess(figures, least.figures, own))
      least = { kind: 'exchanged', figures, sentence };
  }
  return least ?? { kind: 'open' };
}
