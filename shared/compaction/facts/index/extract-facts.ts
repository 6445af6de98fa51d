import { asksSomething } from '../values/answers.ts';
import { factId, type Fact, type FactKind, type FactTier } from './fact.ts';
import { keyOfReadings } from './fact-index.ts';
import { factWeight } from './fact-weights.ts';
import { isCertain, type FactMatch } from './fact-match.ts';
import { saidFacts, type SaidFact, type Surroundings } from '../speech/said-facts.ts';
import { collectSentenceFacts, type SentenceFacts } from '../speech/sentence-facts.ts';
import { statedValues } from '../speech/stated-values.ts';
import type { Utterance } from '../speech/utterances.ts';

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

/** The facts that are collected, each once, by what they say. */
const knownFor = (facts: Collection, { kind, readings }: FactMatch): Collected | undefined =>
  facts.byKind.get(kind)?.get(keyOfReadings(readings));

/** Notes what is said again. False where it is new, or counts more than before. */
function noteAgain(
  known: Collected | undefined,
  { said, tier }: { said: FactMatch; tier: FactTier },
  { seq }: Utterance,
): boolean {
  if (known === undefined || tier < known.fact.tier) return false;
  known.isSure ||= isCertain(said);
  if (known.seqs.at(-1) !== seq) known.seqs.push(seq);
  return true;
}

/** What the user says counts more than what was said before: then it is the user's words that are kept. */
function collect(facts: Collection, said: SaidFact, utterance: Utterance): void {
  const known = knownFor(facts, said);
  if (noteAgain(known, { said, tier: said.tier }, utterance)) return;
  const news = { fact: factOf(said, utterance), seqs: [utterance.seq] };
  if (known !== undefined) {
    Object.assign(known, news, { isSure: known.isSure || isCertain(said) });
    return;
  }
  const collected = { ...news, isSure: isCertain(said) };
  keysOf(facts, said.kind).set(collected.fact.key, collected);
  facts.all.push(collected);
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

interface ConversationFacts {
  facts: Fact[];
  sentences: SentenceFacts;
}

/** As `extractFacts`, with what each sentence says. Linear. */
export function readFacts(utterances: readonly Utterance[]): ConversationFacts {
  const facts: Collection = { all: [], byKind: new Map() };
  const sentences = collectSentenceFacts();
  for (const [utterance, surroundings] of surroundingsOf(utterances)) {
    const said = saidFacts(utterance, surroundings, (found, tier) =>
      noteAgain(knownFor(facts, found), { said: found, tier }, utterance),
    );
    for (const fact of said) collect(facts, fact, utterance);
    sentences.note(utterance, said);
  }
  return {
    facts: facts.all
      .filter(({ isSure }) => isSure)
      .map(({ fact, seqs }) => ({ ...fact, seqs, weight: factWeight(fact, seqs.length) })),
    sentences,
  };
}

/**
 * Checkable facts of a conversation, each once by kind and key, in the order in which they were first said.
 * Tier 1 is what the user says of references, dates, times, amounts, quantities, numbers of two digits,
 * instructions, and names in the place of a value; 2 what else user and model say; 3 what tools return
 * (of output over 2,000 characters links, paths and identifiers alone). `seqs[0]` is the turn of `sentence`;
 * both are those of the first saying in the best tier. At most 400 facts an utterance. Linear.
 * Heuristic throughout: see the finders of each family.
 */
export const extractFacts = (utterances: readonly Utterance[]): Fact[] =>
  readFacts(utterances).facts;

/** The facts of one utterance that stands alone, by `factId`. */
export const factIdsIn = (utterance: Pick<Utterance, 'speaker' | 'text' | 'at'>): string[] =>
  extractFacts([{ ...utterance, seq: 0 }]).map(factId);
