import { constraintSection, type Item, type Snapshot } from '../../conversation/snapshot.ts';
import { constraintsIn } from '../facts/detect-constraints.ts';
import { indexFacts, isHeld } from '../facts/fact-index.ts';
import type { Utterance } from '../facts/utterance.ts';
import { dayKeyOf as dayOf } from '../facts/calendar-day.ts';
import { textKey } from './item-text.ts';
import type { VerbatimSentence } from './verbatim-item.ts';

/** A standing wish of the user that no constraint says. */
export interface MissingConstraint {
  sentence: VerbatimSentence;
  /** The constraint that quotes part of it and says less: it gets the whole sentence. */
  itemId: string | undefined;
}

const quotesPartOf = (item: Item, { seq, text }: VerbatimSentence): boolean =>
  item.sources.includes(seq) &&
  item.quote !== undefined &&
  textKey(text).includes(textKey(item.quote));

/** The standing wishes that the user states in `utterances`, in order. */
export const statedWishes = (utterances: readonly Utterance[]): VerbatimSentence[] =>
  utterances.flatMap((utterance) =>
    constraintsIn(utterance).map(({ sentence: text }): VerbatimSentence => ({
      seq: utterance.seq,
      speaker: 'user',
      text,
      day: dayOf(utterance.at),
    })),
  );

/**
 * The standing wishes of the user, as `statedWishes` gives them, that neither a constraint of the snapshot
 * nor what stays in the context says, each once, where it was last said, oldest first. What tools and the
 * model say is never one. Linear. A wish that a later turn of the same run takes back is not told apart.
 */
export function missingConstraints(
  wishes: readonly VerbatimSentence[],
  context: { snapshot: Snapshot; keptTexts: readonly string[] },
): MissingConstraint[] {
  const constraints = context.snapshot.sections[constraintSection] ?? [];
  const index = indexFacts([...constraints.map(({ text }) => text), ...context.keptTexts]);
  const missing = new Map<string, MissingConstraint>();
  for (const stated of wishes) {
    const key = textKey(stated.text);
    if (isHeld({ kind: 'instruction', key, text: stated.text }, index)) continue;
    const itemId = constraints.find((item) => quotesPartOf(item, stated))?.id;
    missing.delete(key);
    missing.set(key, { sentence: stated, itemId });
  }
  return [...missing.values()];
}
