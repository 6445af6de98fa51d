import {
  type ArchivedItem,
  type Item,
  type Snapshot,
  constraintSection,
} from '#shared/conversation/documents/snapshot.ts';
import { factId, type Fact } from '#shared/compaction/facts/index/fact.ts';
import { repairConstants } from './repair-constants.ts';
import type { TokenCounting } from '#shared/tokens/token-estimate.ts';
import { chooseQuotes, type Candidate, type Choice } from './choose-sentences.ts';
import { textKey } from '#shared/text/one-line.ts';
import type { MissingConstraint } from './missing-constraints.ts';
import {
  candidatesFor,
  factsSaidBy,
  type CandidateInput,
  type FactReader,
} from './repair-candidates.ts';
import { repairConstraints } from './repair-constraints.ts';
import { verbatimFields, type VerbatimSentence } from '../items/verbatim-item.ts';

interface RepairInput {
  snapshot: Snapshot;
  /** Facts that neither the snapshot nor the kept texts hold; tier 1 is repaired. */
  missing: readonly Fact[];
  constraints: readonly MissingConstraint[];
  /** The day of a turn, `2026-11-21`. */
  dayOf: (seq: number) => string | undefined;
  /** Of the whole snapshot. */
  budgetTokens: number;
  counting: TokenCounting;
  /** What sentences may take, those of constraints included. */
  roomTokens: number;
  /** What constraints may take all the same; default: their share of the budget. */
  constraintTokens?: number | undefined;
  /** Facts that are not put back, but must be found: sentences with them go to the archive. */
  further?: readonly Fact[];
  factsIn?: FactReader;
}

export interface VerbatimRepair {
  snapshot: Snapshot;
  /** Sentences that now stand in the working layer. */
  added: VerbatimSentence[];
  /** What they take, constraints included. */
  tokens: number;
  constraintTokens: number;
  /** Sentences in the archive, for want of room. */
  archived: number;
  /** There was no room for all that the user wants always or never. */
  lacksConstraints: boolean;
}

/** A tier-1 instruction is a standing wish, whoever found it. */
const isStandingWish = ({ tier, kind, speaker }: Fact): boolean =>
  tier === 1 && kind === 'instruction' && speaker === 'user';

function allConstraints({ constraints, missing, dayOf }: RepairInput): MissingConstraint[] {
  const known = new Set(constraints.map(({ sentence }) => textKey(sentence.text)));
  const further = missing.filter(isStandingWish).flatMap(({ seqs, sentence }) => {
    const key = textKey(sentence);
    const seq = seqs[0];
    if (seq === undefined || known.has(key)) return [];
    known.add(key);
    const stated: VerbatimSentence = { seq, speaker: 'user', text: sentence, day: dayOf(seq) };
    return [{ sentence: stated, itemId: undefined }];
  });
  return [...constraints, ...further].toSorted(
    (one, other) => one.sentence.seq - other.sentence.seq,
  );
}

/** What has room, and the other sentences that say something missing, the weightiest first. */
function choose(input: CandidateInput, roomTokens: number): { choice: Choice; rest: Candidate[] } {
  const weights = new Map([...input.wanted].map(([id, { weight }]) => [id, weight]));
  const { choice, sentences } = chooseQuotes(
    weights,
    (form) => candidatesFor(input, form),
    roomTokens,
  );
  const lostWeight = ({ facts }: Candidate): number =>
    [...facts].reduce((sum, id) => sum + (choice.covered.has(id) ? 0 : (weights.get(id) ?? 0)), 0);
  const rest = sentences
    .map((candidate) => ({ candidate, weight: lostWeight(candidate) }))
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ candidate }) => candidate);
  return { choice, rest };
}

interface Placed {
  sentence: VerbatimSentence;
  section: string;
}

const inOrder = (placed: readonly Placed[]): Placed[] =>
  placed.toSorted((one, other) => one.sentence.seq - other.sentence.seq);

function withSentences(
  snapshot: Snapshot,
  working: readonly Placed[],
  archived: readonly Placed[],
): Snapshot {
  let { nextId } = snapshot;
  const itemOf = ({ sentence }: Placed): Item => ({
    id: `i${nextId++}`,
    ...verbatimFields(sentence),
    importance: 2,
  });
  const sections: Record<string, Item[]> = { ...snapshot.sections };
  for (const placed of inOrder(working))
    sections[placed.section] = [...(sections[placed.section] ?? []), itemOf(placed)];
  const archive = inOrder(archived).map((placed): ArchivedItem => ({
    ...itemOf(placed),
    section: placed.section,
  }));
  return { ...snapshot, sections, archive: [...snapshot.archive, ...archive], nextId };
}

/** Each sentence of a turn once, whatever facts of it are wanted. */
const distinct = (placed: readonly Placed[]): Placed[] =>
  [
    ...new Map(
      placed.toReversed().map((one) => [`${one.sentence.seq} ${one.sentence.text}`, one]),
    ).values(),
  ].toReversed();

/**
 * Puts back what the user stated and the snapshot lost: standing wishes as constraints, other facts in the sentences
 * that say them, those first that bring the most weight a token. What has no room goes to the archive.
 */
export function repairVerbatim(input: RepairInput): VerbatimRepair {
  const { counting, dayOf } = input;
  const repaired = repairConstraints(input.snapshot, allConstraints(input), input);
  const wanted = new Map(
    input.missing
      .filter((fact) => fact.tier === 1 && !isStandingWish(fact))
      .map((fact) => [factId(fact), fact]),
  );
  for (const sentence of repaired.added)
    for (const id of factsSaidBy(sentence, wanted, input.factsIn)) wanted.delete(id);
  const roomTokens = Math.max(0, input.roomTokens - repaired.tokens);
  const naming = { profile: repaired.snapshot.profile, counting, dayOf, factsIn: input.factsIn };
  const { choice, rest } = choose({ ...naming, wanted }, roomTokens);
  const others = new Map((input.further ?? []).map((fact) => [factId(fact), fact]));
  const archived: Placed[] = distinct([
    ...repaired.leftOut.map((sentence) => ({ sentence, section: constraintSection })),
    ...rest,
    ...candidatesFor({ ...naming, wanted: others }, 'sentence'),
  ]).slice(0, repairConstants.archivedRepairLimit.value);
  return {
    snapshot: withSentences(repaired.snapshot, choice.chosen, archived),
    added: [...repaired.added, ...choice.chosen.map(({ sentence }) => sentence)],
    tokens: repaired.tokens + choice.tokens,
    constraintTokens: repaired.tokens,
    archived: archived.length,
    lacksConstraints: repaired.leftOut.length > 0,
  };
}
