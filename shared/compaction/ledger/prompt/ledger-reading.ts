import type { Turn } from '#shared/conversation/documents/turn.ts';
import { readFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { once } from '#shared/once.ts';
import { textReader, type TextReader } from '#shared/compaction/facts/index/text-facts.ts';
import { type Utterance, readUtterances } from '#shared/conversation/utterances.ts';
import type { LedgerEvidence } from '../operations/apply-operations.ts';
import { sourceUtterances } from '#shared/grounding/source-utterances.ts';
import { citedTurns, type CitedTurns } from '../operations/cited-turns.ts';
import { statedWishes, statedWithdrawals } from '../repair/missing-constraints.ts';
import { factReader, type FactReader } from '../repair/repair-candidates.ts';
import type { VerbatimSentence } from '../items/verbatim-item.ts';

/** What one run knows of the turns that it folds, however often their ledger is checked. */
export interface LedgerReading {
  turns: readonly Turn[];
  utterances: readonly Utterance[];
  /** The turns by number, for items that cite them. */
  cited: CitedTurns;
  /** The same for operations. */
  evidence: () => LedgerEvidence;
  facts: () => readonly Fact[];
  /** What the user wants always or never, in order. */
  wishes: () => readonly VerbatimSentence[];
  /** With which words he ends it, in order. */
  withdrawals: () => readonly VerbatimSentence[];
  /** Which facts words of a turn say. */
  factsIn: FactReader;
  /** What a text beside the turns holds: an item, or what stays in the context. */
  read: TextReader;
}

/** What was said in a turn, behind what the app and its hooks told the model of it. */
const saidIn = (
  { seq, surroundings = '' }: Turn,
  said: readonly Utterance[],
): readonly Utterance[] =>
  surroundings === ''
    ? said
    : [{ seq, speaker: 'tool', text: surroundings, at: new Date(0) }, ...said];

function evidenceIn(
  turns: readonly Turn[],
  utterances: readonly Utterance[],
  cited: CitedTurns,
): LedgerEvidence {
  const bySeq = Map.groupBy([...utterances, ...sourceUtterances(turns)], ({ seq }) => seq);
  return {
    turns: new Map(turns.map((turn) => [turn.seq, saidIn(turn, bySeq.get(turn.seq) ?? [])])),
    at: cited.dayOf,
  };
}

/**
 * Reads the folded turns once: a repair call has their ledger applied and checked a second time. What takes
 * long is made when it is first asked for. Linear in their text. `recalled`: what tools said in earlier turns that these
 * brought back.
 */
export function readFoldedTurns(
  turns: readonly Turn[],
  recalled: readonly string[] = [],
): LedgerReading {
  const utterances = readUtterances(turns);
  const cited = citedTurns(turns);
  const found = once(() => readFacts(utterances));
  return {
    turns,
    utterances,
    cited,
    evidence: once(() => ({ ...evidenceIn(turns, utterances, cited), recalled })),
    facts: () => found().facts,
    wishes: once(() => statedWishes(utterances)),
    withdrawals: once(() => statedWithdrawals(utterances)),
    factsIn: factReader(() => found().sentences),
    read: textReader(),
  };
}
