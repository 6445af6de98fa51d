import { asksSomething } from './answers.ts';
import type { Fact } from './fact.ts';
import { keyOfReadings } from './fact-index.ts';
import { weightOf } from './fact-weights.ts';
import { saidFacts, type SaidFact, type Surroundings } from './said-facts.ts';
import { statedValues } from './stated-values.ts';
import type { Utterance } from './utterance.ts';

interface Collected {
  fact: Omit<Fact, 'seqs' | 'weight'>;
  seqs: number[];
  /** Said at least once in a way that leaves no doubt. */
  isSure: boolean;
}

function factOf(said: SaidFact, { speaker }: Utterance): Collected['fact'] {
  const { kind, tier, text, sentence, readings, isShown } = said;
  const key = keyOfReadings(readings);
  return { kind, key, text, tier, speaker, sentence, ...(isShown === true && { isShown }) };
}

/** What the user says counts more than what was said before: then it is the user's words that are kept. */
function collect(facts: Map<string, Collected>, said: SaidFact, utterance: Utterance): void {
  const [only = ''] = said.readings;
  const id = `${said.kind} ${said.readings.length === 1 ? only : keyOfReadings(said.readings)}`;
  const known = facts.get(id);
  const isSure = said.kind !== 'name' || said.isWeak !== true;
  if (known === undefined) {
    facts.set(id, { fact: factOf(said, utterance), seqs: [utterance.seq], isSure });
    return;
  }
  known.isSure ||= isSure;
  if (said.tier < known.fact.tier) {
    known.fact = factOf(said, utterance);
    known.seqs = [utterance.seq];
  } else if (known.seqs.at(-1) !== utterance.seq) known.seqs.push(utterance.seq);
}

function* surroundingsOf(
  utterances: readonly Utterance[],
): Generator<[utterance: Utterance, surroundings: Surroundings]> {
  const values = statedValues(utterances);
  let isAnswer = false;
  for (const utterance of utterances) {
    yield [utterance, { values, isAnswer }];
    if (utterance.speaker === 'model') isAnswer = asksSomething(utterance.text);
    else if (utterance.speaker === 'user') isAnswer = false;
  }
}

/**
 * Checkable facts of a conversation, each once by kind and key, in the order in which they were first said.
 * Tier 1 is what the user says of references, dates, times, amounts, quantities, numbers of two digits,
 * instructions, and names in the place of a value; 2 what else user and model say; 3 what tools return
 * (of output over 2,000 characters links, paths and identifiers alone). `seqs[0]` is the turn of `sentence`;
 * both are those of the first saying in the best tier. At most 400 facts an utterance. Linear.
 * Heuristic throughout: see the finders of each family.
 */
export function extractFacts(utterances: readonly Utterance[]): Fact[] {
  const facts = new Map<string, Collected>();
  for (const [utterance, surroundings] of surroundingsOf(utterances))
    for (const said of saidFacts(utterance, surroundings)) collect(facts, said, utterance);
  return [...facts.values()]
    .filter(({ isSure }) => isSure)
    .map(({ fact, seqs }) => ({ ...fact, seqs, weight: weightOf(fact, seqs.length) }));
}
