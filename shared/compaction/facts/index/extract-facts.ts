import { asksSomething } from '../values/answers.ts';
import { factId, type Fact, type FactKind, type FactTier } from './fact.ts';
import { keyOfReadings } from './fact-index.ts';
import { COUNTED_TURNS, factWeight } from './fact-weights.ts';
import { isCertain, type FactMatch } from './fact-match.ts';
import { saidFacts, type SaidFact, type Surroundings } from '../speech/said-facts.ts';
import { collectSentenceFacts, type SentenceFacts } from '../speech/sentence-facts.ts';
import { statedValues } from '../speech/stated-values.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';

interface Collected {
  /** Its weight is not known before all is read. */
  fact: Fact & { seqs: number[] };
  /** Said at least once in a way that leaves no doubt. */
  isSure: boolean;
}

function factOf(said: SaidFact, { speaker, seq }: Utterance): Collected['fact'] {
  const { kind, tier, text, sentence, readings, isShown } = said;
  const shown = isShown === true && { isShown };
  const key = keyOfReadings(readings);
  return { kind, key, text, tier, speaker, sentence, ...shown, seqs: [seq], weight: 0 };
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

/** Notes that a turn says again what is known; behind the first turns, which count, the newest stays. */
function addSaying(known: Collected, said: FactMatch, seq: number): void {
  const { seqs } = known.fact;
  known.isSure ||= isCertain(said);
  if (seqs.at(-1) === seq) return;
  if (seqs.length <= COUNTED_TURNS) seqs.push(seq);
  else seqs[COUNTED_TURNS] = seq;
}

/** Notes what a turn says again. False where it is new, or counts more than before. */
const noteAgain =
  (facts: Collection, seq: number) =>
  (said: FactMatch, tier: FactTier): boolean => {
    const known = knownFor(facts, said);
    if (known === undefined || tier < known.fact.tier) return false;
    addSaying(known, said, seq);
    return true;
  };

/** What the user says counts more than what was said before: then it is the user's words that are kept. */
function collect(facts: Collection, said: SaidFact, utterance: Utterance): void {
  const known = knownFor(facts, said);
  if (known !== undefined && said.tier >= known.fact.tier) {
    addSaying(known, said, utterance.seq);
    return;
  }
  const fact = factOf(said, utterance);
  if (known !== undefined) {
    known.fact = fact;
    known.isSure ||= isCertain(said);
    return;
  }
  const collected = { fact, isSure: isCertain(said) };
  keysOf(facts, said.kind).set(fact.key, collected);
  facts.all.push(collected);
}

/** Those that were said without doubt, weighed. */
function sureFacts({ all }: Collection): Fact[] {
  const sure: Fact[] = [];
  for (const { fact, isSure } of all) {
    if (!isSure) continue;
    fact.weight = factWeight(fact, fact.seqs.length);
    sure.push(fact);
  }
  return sure;
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
    const said = saidFacts(utterance, surroundings, noteAgain(facts, utterance.seq));
    for (const fact of said) collect(facts, fact, utterance);
    sentences.note(utterance, said);
  }
  return { facts: sureFacts(facts), sentences };
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
