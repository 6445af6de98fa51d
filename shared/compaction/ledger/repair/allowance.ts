import {
  constraintSection,
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { indexFacts } from '#shared/compaction/facts/index/fact-index.ts';
import { isSentenceHeld } from '#shared/compaction/facts/index/line-index.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { changedItems } from '../operations/changed-items.ts';
import type { CitedTurns } from '../operations/cited-turns.ts';
import type { LedgerReading } from '../prompt/ledger-reading.ts';
import { renderWorkingLayer } from '../render-snapshot.ts';
import { bindsAnswers, isNeededLater, isSaidByUser } from './needed-facts.ts';
import { repairConstants } from './repair-constants.ts';

interface AllowanceInput {
  /** Before the operations of this run, and after them. */
  previous: Snapshot | undefined;
  snapshot: Snapshot;
  reading: LedgerReading;
  budgetTokens: number;
  counting: TokenCounting;
}

/**
 * Share of statements, 0–1, that stand word for word in a turn that they cite. A summariser that mostly copies sentences
 * leaves out what it had no room to copy; one that writes its own has chosen. No statements → 0.
 */
export function copiedShare(items: readonly ArchivedItem[], turns: CitedTurns): number {
  const isCopied = ({ text, sources }: ArchivedItem): boolean =>
    sources.some((seq) => turns.get(seq)?.all.says(text) === true);
  return items.length === 0 ? 0 : items.filter(isCopied).length / items.length;
}

/** Rules aside: those must be in the words of the user. */
const madeByModel = ({ previous, snapshot }: AllowanceInput): ArchivedItem[] =>
  changedItems(previous, snapshot)
    .map(({ item }) => item)
    .filter(({ by, section }) => by === 'model' && section !== constraintSection);

/** Whether a later answer would need a fact of the folded turns. */
const isNeeded = (fact: Fact, { cited }: LedgerReading): boolean =>
  isNeededLater(fact, cited.dayOf(fact.seqs[0] ?? 0));

/** What code may put back of what the user stated. */
export interface Allowance {
  isWanted: (fact: Fact) => boolean;
  /** Whether a second call is worth asking for it. */
  isAskedFor: (fact: Fact) => boolean;
  roomTokens: number;
  /** Whether a wish of the user stands in the snapshot, in whatever words. */
  isHeld: (wish: string) => boolean;
}

/**
 * A summariser that writes its own statements has chosen what matters: code adds what a later answer needs, within a
 * twentieth of the snapshot, or two sentences. One that mostly copies sentences, or says next to nothing, has left out what matters: all that
 * the user said comes back, within a quarter of the budget.
 */
export function allowanceFor(input: AllowanceInput, snapshot: Snapshot): Allowance {
  const { reading, budgetTokens, counting } = input;
  const { copiedStatementShare, copiedRepairFraction, addedFraction, addedTokens, sparseFraction } =
    repairConstants;
  const made = madeByModel(input);
  const usedTokens = estimateTextTokens(renderWorkingLayer(snapshot), counting);
  const isSparse = usedTokens < sparseFraction.value * budgetTokens;
  const isCopied =
    made.length === 0 || copiedShare(made, reading.cited) >= copiedStatementShare.value;
  if (isSparse || isCopied)
    return {
      isWanted: isSaidByUser,
      isAskedFor: (fact) => isCopied || isNeeded(fact, reading),
      roomTokens: Math.floor(copiedRepairFraction.value * budgetTokens),
      isHeld: () => false,
    };
  const said = workingItems(snapshot).flatMap(({ text, quote }) => [text, quote ?? '']);
  const lines = indexFacts(said).lines();
  const isHeld = (wish: string): boolean =>
    !bindsAnswers(wish) || isSentenceHeld(wish, lines, repairConstants.heldWishShare.value);
  const shareTokens = addedFraction.value * Math.min(usedTokens, budgetTokens);
  const roomTokens = Math.max(addedTokens.value, Math.floor(shareTokens));
  return {
    isWanted: (fact) =>
      isNeeded(fact, reading) && !(fact.kind === 'instruction' && isHeld(fact.sentence)),
    isAskedFor: () => true,
    roomTokens,
    isHeld,
  };
}
