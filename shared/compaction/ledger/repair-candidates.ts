import type { SectionName, SnapshotProfile } from '../../conversation/snapshot.ts';
import { factIdsIn } from '../facts/extract-facts.ts';
import type { Fact } from '../facts/fact.ts';
import { isQuestion } from '../facts/questions.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { estimateTextTokens, type TokenCounting } from '../token-estimate.ts';
import type { Candidate } from './choose-sentences.ts';
import { shortQuote } from './short-quote.ts';
import { verbatimText, type SpokenSentence, type VerbatimSentence } from './verbatim-item.ts';

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
  /** Default: with them. */
  wanted?: { instructions: boolean },
) => readonly string[];

export const readFacts: FactReader = (sentence, { instructions } = { instructions: true }) =>
  factIdsIn({ ...sentence, at: new Date(0) }, { wantsInstructions: instructions });

/** As `readFacts`; each sentence is read once, however often it is a candidate. */
export function factReader(): FactReader {
  const known = new Map<string, Map<string, readonly string[]>>();
  return (sentence, wanted = { instructions: true }) => {
    const kind = `${sentence.speaker} ${wanted.instructions}`;
    const byText = known.get(kind) ?? new Map<string, readonly string[]>();
    known.set(kind, byText);
    const facts = byText.get(sentence.text) ?? readFacts(sentence, wanted);
    byText.set(sentence.text, facts);
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
  if (form === 'sentence') return fact.sentence;
  const most = ledgerConstants.shortQuoteCharacters.value;
  return shortQuote(fact.sentence, fact.text, most) ?? fact.sentence;
}

/** Finding instructions takes long: they are read where one of them is missing. */
function readerFor({ wanted, factsIn = readFacts }: CandidateInput): FactReader {
  const instructions = [...wanted.values()].some(({ kind }) => kind === 'instruction');
  return (sentence) => factsIn(sentence, { instructions });
}

/** One candidate for each sentence that says a missing fact. Linear in the facts. */
export function candidatesFor(input: CandidateInput, form: 'sentence' | 'short'): Candidate[] {
  const candidates: Candidate[] = [];
  const factsBySeq = new Map<number, Map<string, Set<string>>>();
  const factsIn = readerFor(input);
  for (const [id, fact] of input.wanted) {
    const sentence = sentenceFor(fact, textFor(fact, form), input);
    const ofTurn = factsBySeq.get(sentence.seq) ?? new Map<string, Set<string>>();
    factsBySeq.set(sentence.seq, ofTurn);
    const known = ofTurn.get(sentence.text);
    if (known !== undefined) {
      known.add(id);
      continue;
    }
    const facts = factsSaidBy(sentence, input.wanted, factsIn).add(id);
    ofTurn.set(sentence.text, facts);
    candidates.push({
      sentence,
      section: sectionOf(fact, input.profile),
      facts,
      tokens: lineTokens(sentence, input.counting),
      share: isQuestion(fact.sentence) ? ledgerConstants.questionWeight.value : 1,
    });
  }
  return candidates;
}
