import type { Item, Snapshot } from '../../conversation/snapshot.ts';
import { factId, type Fact } from '../facts/fact.ts';
import { estimateTextTokens, type TokenCounting } from '../token-estimate.ts';
import { chooseSentences, type Candidate } from './choose-sentences.ts';
import { candidatesFor, type FactReader } from './repair-candidates.ts';
import { renderWorkingLayer } from './render-snapshot.ts';
import { verbatimFields, type VerbatimSentence } from './verbatim-item.ts';

export interface FillInput {
  snapshot: Snapshot;
  /** Facts that neither the snapshot nor the kept texts hold. */
  missing: readonly Fact[];
  dayOf: (seq: number) => string | undefined;
  /** Of the whole snapshot. */
  budgetTokens: number;
  /** What these sentences may take, where the budget has as much left. */
  roomTokens: number;
  counting: TokenCounting;
  factsIn?: FactReader;
}

export interface FilledSnapshot {
  snapshot: Snapshot;
  /** Oldest first. */
  added: VerbatimSentence[];
  tokens: number;
}

/** What is worth a sentence where there is room: nobody reads the JSON of calls, and tools are searched. */
const isWorthSaying = ({ tier, kind, speaker }: Fact): boolean =>
  (tier === 2 || (tier === 1 && kind !== 'instruction')) &&
  (speaker === 'user' || speaker === 'model');

/** Of less importance than anything that the model chose or the user needs. */
function withSentences(snapshot: Snapshot, chosen: readonly Candidate[]): Snapshot {
  let { nextId } = snapshot;
  const sections: Record<string, Item[]> = { ...snapshot.sections };
  for (const { section, sentence } of chosen) {
    const item: Item = { id: `i${nextId++}`, ...verbatimFields(sentence), importance: 1 };
    sections[section] = [...(sections[section] ?? []), item];
  }
  return { ...snapshot, sections, nextId };
}

const inOrder = (chosen: readonly Candidate[]): Candidate[] =>
  chosen.toSorted((one, other) => one.sentence.seq - other.sentence.seq);

/**
 * Sentences of user and model that say facts which are missing, those that bring the most weight a token,
 * into what is left of the budget: the working layer never grows beyond it, and nothing leaves for them.
 */
export function fillRoom(input: FillInput): FilledSnapshot {
  const { snapshot, budgetTokens, counting, dayOf } = input;
  const tokensOf = (of: Snapshot): number => estimateTextTokens(renderWorkingLayer(of), counting);
  const roomTokens = Math.min(input.roomTokens, budgetTokens - tokensOf(snapshot));
  const nothing: FilledSnapshot = { snapshot, added: [], tokens: 0 };
  if (roomTokens <= 0) return nothing;
  const wanted = new Map(input.missing.filter(isWorthSaying).map((fact) => [factId(fact), fact]));
  const weights = new Map([...wanted].map(([id, { weight }]) => [id, weight]));
  const candidates = candidatesFor(
    { wanted, profile: snapshot.profile, counting, dayOf, factsIn: input.factsIn },
    'sentence',
  );
  const { chosen } = chooseSentences(candidates, weights, roomTokens);
  // Tags and escaped signs are not in the estimate of a line: the least valuable give way to them.
  for (let count = chosen.length; count > 0; count--) {
    const taken = inOrder(chosen.slice(0, count));
    const filled = withSentences(snapshot, taken);
    if (tokensOf(filled) > budgetTokens) continue;
    return {
      snapshot: filled,
      added: taken.map(({ sentence }) => sentence),
      tokens: taken.reduce((sum, { tokens }) => sum + tokens, 0),
    };
  }
  return nothing;
}
