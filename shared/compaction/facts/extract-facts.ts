import { asksSomething } from './answers.ts';
import { factId, type Fact, type FactKind } from './fact.ts';
import { keyOfReadings } from './fact-index.ts';
import { weightOf } from './fact-weights.ts';
import type { Found } from './found.ts';
import { foundAlone, saidFacts, type SaidFact, type Surroundings } from './said-facts.ts';
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

const isSureOf = ({ kind, isWeak }: Pick<Found, 'kind' | 'isWeak'>): boolean =>
  kind !== 'name' || isWeak !== true;

/** The facts in the order in which they were first said; each kind has keys of its own. */
interface Collection {
  all: Collected[];
  byKind: Map<FactKind, Map<string, Collected>>;
}

function keysOf({ byKind }: Collection, kind: FactKind): Map<string, Collected> {
  const keys = byKind.get(kind) ?? new Map<string, Collected>();
  byKind.set(kind, keys);
  return keys;
}

/** What the user says counts more than what was said before: then it is the user's words that are kept. */
function collect(facts: Collection, said: SaidFact, utterance: Utterance): void {
  const keys = keysOf(facts, said.kind);
  const key = keyOfReadings(said.readings);
  const known = keys.get(key);
  const isSure = isSureOf(said);
  if (known === undefined) {
    const collected = { fact: factOf(said, utterance), seqs: [utterance.seq], isSure };
    keys.set(key, collected);
    facts.all.push(collected);
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
  const facts: Collection = { all: [], byKind: new Map() };
  for (const [utterance, surroundings] of surroundingsOf(utterances))
    for (const said of saidFacts(utterance, surroundings)) collect(facts, said, utterance);
  return facts.all
    .filter(({ isSure }) => isSure)
    .map(({ fact, seqs }) => ({ ...fact, seqs, weight: weightOf(fact, seqs.length) }));
}

/** The facts of one utterance that stands alone, by `factId`: those that `extractFacts` finds in it. */
export function factIdsIn(
  utterance: Pick<Utterance, 'speaker' | 'text' | 'at'>,
  options: { wantsInstructions: boolean },
): string[] {
  const sure = new Map<string, boolean>();
  for (const found of foundAlone(utterance, options)) {
    const id = factId({ kind: found.kind, key: keyOfReadings(found.readings) });
    sure.set(id, sure.get(id) === true || isSureOf(found));
  }
  return [...sure].flatMap(([id, isSure]) => (isSure ? [id] : []));
}
