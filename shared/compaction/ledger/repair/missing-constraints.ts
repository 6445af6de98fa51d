import {
  constraintSection,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { constraintsIn } from '#shared/compaction/facts/speech/detect-constraints.ts';
import { indexFacts, isHeld } from '#shared/compaction/facts/index/fact-index.ts';
import type { KnownText } from '#shared/compaction/facts/index/text-facts.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';
import { takesBack, withdrawalsIn } from '#shared/compaction/facts/languages/withdrawals.ts';
import { toDayKey as dayOf } from '#shared/compaction/facts/values/calendar-day.ts';
import { textKey } from '#shared/text/one-line.ts';
import { lastSource } from '../items/statement.ts';
import type { VerbatimSentence } from '../items/verbatim-item.ts';

/** A standing wish of the user that no constraint says. */
export interface MissingConstraint {
  sentence: VerbatimSentence;
  /** The constraint that quotes part of it and says less: it gets the whole sentence. */
  itemId: string | undefined;
}

const constraintsOf = (snapshot: Snapshot | undefined): readonly Item[] =>
  snapshot?.sections[constraintSection] ?? [];

const quotesPartOf = (item: Item, { seq, text }: VerbatimSentence): boolean =>
  item.sources.includes(seq) &&
  item.quote !== undefined &&
  textKey(text).includes(textKey(item.quote));

const saidBy = ({ seq, at }: Utterance, text: string): VerbatimSentence => ({
  seq,
  speaker: 'user',
  text,
  day: dayOf(at),
});

/** The standing wishes that the user states in `utterances`, in order. */
export const statedWishes = (utterances: readonly Utterance[]): VerbatimSentence[] =>
  utterances.flatMap((utterance) =>
    constraintsIn(utterance).map(({ sentence }) => saidBy(utterance, sentence)),
  );

/** The sentences in which the user ends something that he wanted, in order. */
export const statedWithdrawals = (utterances: readonly Utterance[]): VerbatimSentence[] =>
  utterances.flatMap((utterance) =>
    withdrawalsIn(utterance).map((text) => saidBy(utterance, text)),
  );

/**
 * What the user wants always and the snapshot should say, by code: the standing wishes, as `statedWishes` gives them,
 * that neither a constraint of the snapshot nor what stays in the context says, each once, where it was last
 * said, oldest first; and, of `withdrawals`, those that take back what stands all the same, unless they have ended what
 * `previous` knew. Which of the two
 * holds code cannot tell: the later one is said beside the earlier. What tools and the model say is never one. Linear in the wishes,
 * times the withdrawals.
 */
export function missingConstraints(
  stated: {
    wishes: readonly VerbatimSentence[];
    withdrawals: readonly VerbatimSentence[];
  },
  context: {
    previous?: Snapshot | undefined;
    snapshot: Snapshot;
    keptTexts: readonly KnownText[];
  },
): MissingConstraint[] {
  const constraints = constraintsOf(context.snapshot);
  const index = indexFacts([...constraints.map(({ text }) => text), ...context.keptTexts]);
  const missing = new Map<string, MissingConstraint>();
  const want = (sentence: VerbatimSentence, itemId?: string): void => {
    const key = textKey(sentence.text);
    if (isHeld({ kind: 'instruction', key, text: sentence.text }, index)) return;
    missing.delete(key);
    missing.set(key, { sentence, itemId });
  };
  for (const wish of stated.wishes)
    want(wish, constraints.find((item) => quotesPartOf(item, wish))?.id);
  const standing = [
    ...constraints.map((item) => ({ text: item.text, seq: lastSource(item) })),
    ...[...missing.values()].map(({ sentence }) => sentence),
  ];
  const ended = constraintsOf(context.previous).filter(
    ({ id, text }) => !constraints.some((item) => item.id === id && item.text === text),
  );
  for (const later of stated.withdrawals) {
    const isDone = ended.some(({ text }) => takesBack(later.text, text));
    if (isDone) continue;
    if (standing.some(({ text, seq }) => seq < later.seq && takesBack(later.text, text)))
      want(later);
  }
  return [...missing.values()];
}
