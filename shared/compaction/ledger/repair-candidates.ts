import type { SectionName, SnapshotProfile } from '../../conversation/snapshot.ts';
import { extractFacts } from '../facts/extract-facts.ts';
import type { Fact } from '../facts/fact.ts';
import { isQuestion } from '../facts/questions.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { estimateTextTokens, type TokenCounting } from '../token-estimate.ts';
import type { Candidate } from './choose-sentences.ts';
import { shortQuote } from './short-quote.ts';
import { verbatimText, type SpokenSentence, type VerbatimSentence } from './verbatim-item.ts';

/** Equal for equal facts. */
export const factId = ({ kind, key }: Pick<Fact, 'kind' | 'key'>): string => `${kind} ${key}`;

/** Where a sentence belongs that was put in for a fact: only what users tell of themselves is their profile. */
function sectionOf({ kind, speaker, isShown }: Fact, profile: SnapshotProfile): SectionName {
  switch (kind) {
    case 'path':
      return profile === 'assistant' ? 'artifacts' : 'artifact_trail';
    case 'email':
    case 'phone':
      return profile === 'assistant' && speaker === 'user' && isShown !== true
        ? 'user_profile'
        : 'key_knowledge';
    case 'link':
    case 'identifier':
    case 'date':
    case 'time':
    case 'amount':
    case 'quantity':
    case 'number':
    case 'quoted':
    case 'name':
    case 'term':
    case 'instruction':
      return 'key_knowledge';
  }
}

/** What a line with this sentence costs in the snapshot. */
export const lineTokens = (sentence: SpokenSentence, counting: TokenCounting): number =>
  estimateTextTokens(`- ${verbatimText(sentence)}\n`, counting);

/** The facts, by `factId`, that a sentence says where it stands alone. */
export type FactReader = (
  sentence: Pick<VerbatimSentence, 'speaker' | 'text'>,
) => readonly string[];

export const readFacts: FactReader = ({ speaker, text }) =>
  extractFacts([{ seq: 0, speaker, text, at: new Date(0) }]).map(factId);

/** As `readFacts`; each sentence is read once, however often it is a candidate. */
export function factReader(): FactReader {
  const known = new Map<string, readonly string[]>();
  return (sentence) => {
    const key = `${sentence.speaker} ${sentence.text}`;
    const facts = known.get(key) ?? readFacts(sentence);
    known.set(key, facts);
    return facts;
  };
}

/** Every fact of `wanted` that a text says, also those that were first said elsewhere. */
export function factsSaidBy(
  sentence: VerbatimSentence,
  wanted: ReadonlyMap<string, Fact>,
  factsIn: FactReader = readFacts,
): Set<string> {
  return new Set(factsIn(sentence).filter((id) => wanted.has(id)));
}

export interface CandidateInput {
  /** The facts that are missing, by `factId`. */
  wanted: ReadonlyMap<string, Fact>;
  profile: SnapshotProfile;
  counting: TokenCounting;
  dayOf: (seq: number) => string | undefined;
  /** Default: every sentence is read anew. */
  factsIn?: FactReader | undefined;
}

function sentenceFor(fact: Fact, text: string, { dayOf }: CandidateInput): VerbatimSentence {
  const seq = fact.seqs[0] ?? 0;
  const { speaker, isShown } = fact;
  return { seq, speaker, text, day: dayOf(seq), ...(isShown === true && { isShown }) };
}

/** The text that brings a fact back: its sentence, or only the words around it. */
function textFor(fact: Fact, form: 'sentence' | 'short'): string {
  const short = form === 'short' ? ledgerConstants.shortQuoteCharacters.value : Infinity;
  return shortQuote(fact.sentence, fact.text, short) ?? fact.sentence;
}

/** One candidate for each sentence that says a missing fact. Linear in the facts. */
export function candidatesFor(input: CandidateInput, form: 'sentence' | 'short'): Candidate[] {
  const candidates = new Map<string, Candidate & { facts: Set<string> }>();
  for (const [id, fact] of input.wanted) {
    const sentence = sentenceFor(fact, textFor(fact, form), input);
    const key = `${sentence.seq} ${sentence.text}`;
    const known = candidates.get(key);
    if (known !== undefined) {
      known.facts.add(id);
      continue;
    }
    candidates.set(key, {
      sentence,
      section: sectionOf(fact, input.profile),
      facts: factsSaidBy(sentence, input.wanted, input.factsIn).add(id),
      tokens: lineTokens(sentence, input.counting),
      share: isQuestion(fact.sentence) ? ledgerConstants.questionWeight.value : 1,
    });
  }
  return [...candidates.values()];
}
