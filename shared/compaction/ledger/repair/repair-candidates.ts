import type { SectionName, SnapshotProfile } from '#shared/conversation/documents/snapshot.ts';
import { factIdsIn } from '#shared/compaction/facts/index/extract-facts.ts';
import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { isQuestion } from '#shared/conversation/utterances.ts';
import type { SentenceFacts } from '#shared/compaction/facts/speech/sentence-facts.ts';
import { repairConstants } from './repair-constants.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import type { Candidate } from './choose-sentences.ts';
import { shortQuote } from './short-quote.ts';
import {
  verbatimText,
  type SpokenSentence,
  type VerbatimSentence,
} from '../items/verbatim-item.ts';

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

/** Words of a turn, and the sentence that they are taken from. */
type Quotation = Pick<VerbatimSentence, 'seq' | 'speaker' | 'text'> & { of?: string };

/** The facts, by `factId`, that words of a turn say. */
export type FactReader = (quotation: Quotation) => readonly string[];

/** Reads words as if they stood alone. */
const readAlone: FactReader = ({ speaker, text }) => factIdsIn({ speaker, text, at: new Date(0) });

/** What was found in the sentences where they stand; others are read as if they stood alone. */
export const factReader =
  (sentences: () => SentenceFacts): FactReader =>
  (quotation) => {
    const { text, of = text } = quotation;
    return sentences().idsIn({ ...quotation, sentence: of }, text) ?? readAlone(quotation);
  };

/** Every fact of `wanted` that words say, also those that were first said elsewhere. */
export function factsSaidBy(
  quotation: Quotation,
  wanted: ReadonlyMap<string, Fact>,
  factsIn: FactReader = readAlone,
): Set<string> {
  return new Set(factsIn(quotation).filter((id) => wanted.has(id)));
}

export interface CandidateInput {
  /** The facts that are missing, by `factId`. */
  wanted: ReadonlyMap<string, Fact>;
  profile: SnapshotProfile;
  counting: TokenCounting;
  dayOf: (seq: number) => string | undefined;
  /** Default: every sentence is read as if it stood alone. */
  factsIn?: FactReader | undefined;
}

function sentenceFor(fact: Fact, text: string, { dayOf }: CandidateInput): VerbatimSentence {
  const seq = fact.seqs[0] ?? 0;
  const { speaker, isShown } = fact;
  return { seq, speaker, text, day: dayOf(seq), ...(isShown === true && { isShown }) };
}

/** The text that brings a fact back: its sentence, or only the words around it. */
function textFor(fact: Fact, form: 'sentence' | 'short'): string {
  if (form === 'sentence') return fact.sentence;
  const most = repairConstants.shortQuoteCharacters.value;
  return shortQuote(fact.sentence, fact.text, most) ?? fact.sentence;
}

/** One candidate for each sentence that says a missing fact. Linear in the facts. */
export function candidatesFor(input: CandidateInput, form: 'sentence' | 'short'): Candidate[] {
  const candidates: Candidate[] = [];
  const factsBySeq = new Map<number, Map<string, Set<string>>>();
  for (const [id, fact] of input.wanted) {
    const sentence = sentenceFor(fact, textFor(fact, form), input);
    const ofTurn = factsBySeq.get(sentence.seq) ?? new Map<string, Set<string>>();
    factsBySeq.set(sentence.seq, ofTurn);
    const known = ofTurn.get(sentence.text);
    if (known !== undefined) {
      known.add(id);
      continue;
    }
    const quotation = { ...sentence, of: fact.sentence };
    const facts = factsSaidBy(quotation, input.wanted, input.factsIn).add(id);
    ofTurn.set(sentence.text, facts);
    candidates.push({
      sentence,
      section: sectionOf(fact, input.profile),
      facts,
      tokens: lineTokens(sentence, input.counting),
      share: isQuestion(fact.sentence) ? repairConstants.questionWeight.value : 1,
    });
  }
  return candidates;
}
