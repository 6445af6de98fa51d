import type { Fact, FactKind } from '../compaction/facts/index/fact.ts';
import { extractFacts } from '../compaction/facts/index/extract-facts.ts';
import { indexFacts, isHeld } from '../compaction/facts/index/fact-index.ts';
import { unsupportedIn } from '../compaction/facts/index/unsupported.ts';
import {
  isReference,
  isSaidByUser,
  isStatement,
} from '../compaction/ledger/repair/needed-facts.ts';
import { cutHead } from '#shared/text/cut.ts';
import { extractTerms } from './index-terms.ts';
import { lookUp } from './look-up.ts';
import { recallQuery } from './recall-query.ts';
import type { Passage, Segment } from './segment.ts';

/** Whoever has to say something again does so in a few words: of a longer message the beginning is read. */
const MESSAGE_CHARACTERS = 4_000;

/** Values of a message that are looked up, the weightiest first. */
const VALUES = 6;

/** Passages that are looked at for each. */
const PASSAGES = 12;

/** UTF-16 units of the context that are read for a value; where more may hold it, it counts as given. */
const KNOWN_CHARACTERS = 60_000;

/** Nobody says these twice by accident. */
const references: ReadonlySet<FactKind> = new Set(['identifier', 'email', 'phone', 'link']);

/** These say the same again only about the same thing. */
const values: ReadonlySet<FactKind> = new Set([
  'date',
  'amount',
  'quantity',
  'name',
  'quoted',
  'instruction',
]);

interface AskedAgain {
  message: string;
  /** When it is sent. */
  now: Date;
  segments: readonly Segment[];
  /** The last turn that is no longer in the context word for word. */
  throughSeq: number;
  /** Turns that do not count: erased ones, and those that were brought back for an earlier message. */
  leftOut: ReadonlySet<number>;
  /** What the model was given beside the message. */
  known: readonly string[];
}

/** A day that is told from today ("tomorrow") is said anew on each day. */
const isFixed = ({ kind, text }: Fact): boolean => kind !== 'date' || /\d/.test(text);

/** Standards, versions and models (UTF-8, v24.1) are named again whenever they are talked about. */
const isOwn = ({ kind, text }: Fact): boolean => kind !== 'identifier' || isReference(text);

/** What a message states that is worth looking up. */
const statedIn = ({ message, now }: AskedAgain): Fact[] =>
  extractFacts([{ seq: 0, speaker: 'user', text: cutHead(message, MESSAGE_CHARACTERS), at: now }])
    .filter(({ kind }) => references.has(kind) || values.has(kind))
    .filter(
      (fact) => isSaidByUser(fact) && isStatement(fact.sentence) && isFixed(fact) && isOwn(fact),
    )
    .toSorted((one, other) => other.weight - one.weight)
    .slice(0, VALUES);

const termsOf = (text: string, without: string): Set<string> =>
  new Set(extractTerms(text.replaceAll(without, ' ')).counts.keys());

/** Whether a passage says the value, and of the same thing: it shares a word with the sentence beside the value. */
function says({ text, at }: Passage, fact: Fact): boolean {
  const index = indexFacts([text], [at]);
  if (!isHeld(fact, index)) return false;
  if (references.has(fact.kind)) return true;
  // The same wish with another value is another wish.
  if (fact.kind === 'instruction') return unsupportedIn(fact.text, index).length === 0;
  const beside = termsOf(fact.sentence, fact.text);
  for (const term of termsOf(text, fact.text)) if (beside.has(term)) return true;
  return false;
}

/** The words and figures of a text, as they stand in other texts: 1,400 as 1400. */
const plainly = (text: string): string =>
  text.toLowerCase().replaceAll(/(?<=\d)[.,\s](?=\d{3}(?!\d))/g, '');

/** The texts that may hold a value: those with a word or figure of it; of other scripts all. */
function textsWith({ text }: Fact, texts: readonly string[]): readonly string[] {
  const parts = plainly(text).match(/[a-z]{2,}|\d+/g) ?? [];
  if (parts.length === 0 || /[^\p{ASCII}\p{Sc}]/u.test(text)) return texts;
  return texts.filter((one) => {
    const plain = plainly(one);
    return parts.some((part) => plain.includes(part));
  });
}

/** Whether the model was given a value beside the message. */
function wasGiven({ known }: AskedAgain, fact: Fact): boolean {
  const texts = textsWith(fact, known);
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return characters > KNOWN_CHARACTERS || isHeld(fact, indexFacts(texts));
}

/** Whether the user has said it in a turn that is folded. */
function wasSaid({ segments, throughSeq, leftOut }: AskedAgain, fact: Fact): boolean {
  const query = recallQuery(fact.sentence, undefined);
  if (!query) return false;
  const { candidates } = lookUp({
    segments: segments.map((segment) => ({ segment, throughSeq })),
    query,
    hidden: leftOut,
    limit: PASSAGES,
  });
  return candidates.some(({ passage }) => passage.role === 'user' && says(passage, fact));
}

/**
 * Whether a message states a value that its user has stated in a folded turn, and that nothing says which the model was
 * given: the user had to say it again. By code alone; the context is read only where a folded turn says it, too.
 * Heuristic: who says the same twice for a reason of their own counts as well.
 */
export const isSaidAgain = (asked: AskedAgain): boolean =>
  statedIn(asked).some((fact) => wasSaid(asked, fact) && !wasGiven(asked, fact));
