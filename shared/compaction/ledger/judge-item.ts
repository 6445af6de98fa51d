import { constraintSection, type ArchivedItem } from '../../conversation/snapshot.ts';
import { sentencesOf } from '../facts/sentences.ts';
import type { ChangedItem } from './changed-items.ts';
import type { CitedTurn, SaidSentence } from './cited-turns.ts';
import { writtenFigures } from './exchanged-figures.ts';
import { isWordForWord, supportOf, unsupportedBy, type Support } from './item-support.ts';
import { textKey } from './item-text.ts';
import { misplacedFigures } from './misplaced-figures.ts';
import { saidSentence, type Replacing } from './said-sentence.ts';
import { compareWithTwins, exchangedAgainst, type Compared } from './twin-sentence.ts';
import { verbatimFields, verbatimText } from './verbatim-item.ts';
import { wordsOf } from './word-overlap.ts';

export type Verdict =
  | { kind: 'keep' }
  | { kind: 'repair'; item: ArchivedItem }
  /** `unsupported` is empty where a constraint has no words of the user. */
  | { kind: 'drop'; unsupported: string[] };

/** What is wrong with one sentence of an item. */
interface Fault {
  unsupported: string[];
  /** Its own words with the right figures, where it is as good as word for word. */
  instead?: SaidSentence;
}

/** Other figures than those of the sentence that it repeats, or figures that are said of something else. */
function misplacedIn(
  statement: Compared,
  { near, replacing, earlier }: Support,
): Fault | undefined {
  const { sentences, isCut } = near();
  const dayOf = (seq: number): Date | undefined => replacing.turns.get(seq)?.saidAt;
  const known = new Set(earlier.flatMap(writtenFigures));
  const compared = compareWithTwins(statement, sentences, { dayOf, known });
  if (compared.kind === 'exchanged')
    return { unsupported: compared.figures, instead: compared.sentence };
  if (compared.kind === 'held' || isCut) return undefined;
  const alsoSaid = [replacing.quote ?? '', ...earlier];
  const unsupported = misplacedFigures(statement, { sentences, alsoSaid, dayOf });
  return unsupported.length === 0 ? undefined : { unsupported };
}

/** What is said of something else is looked for last: it is the widest notion of a fault. */
function faultIn(text: string, support: Support): Fault | undefined {
  const hasFigures = /\p{Nd}/u.test(text);
  const statement = { text, words: hasFigures ? wordsOf(text) : new Set<string>() };
  const { quote } = support.replacing;
  const exchanged = hasFigures && quote !== undefined ? exchangedAgainst(quote, statement) : [];
  if (exchanged.length > 0) return { unsupported: exchanged };
  if (isWordForWord(text, support)) return undefined;
  const misplaced = hasFigures ? misplacedIn(statement, support) : undefined;
  if (misplaced?.instead !== undefined) return misplaced;
  const unsupported = unsupportedBy(text, support.sources);
  return unsupported.length > 0 ? { unsupported } : misplaced;
}

const ascending = (seqs: readonly number[]): number[] =>
  [...new Set(seqs)].toSorted((one, other) => one - other);

/** A quote tells which sentence is meant; else it is the one that the statement repeats. */
function insteadOf(text: string, fault: Fault, { replacing }: Support): SaidSentence | undefined {
  return replacing.quote === undefined
    ? (fault.instead ?? saidSentence(text, replacing))
    : (saidSentence(text, replacing) ?? fault.instead);
}

/** Whether two texts are one, or one is in the other. */
function isPartOf(one: string, other: string): boolean {
  const [key, otherKey] = [textKey(one), textKey(other)];
  return key !== '' && otherKey !== '' && (key.includes(otherKey) || otherKey.includes(key));
}

/**
 * The same; of a rule only the sentence that makes it one: another sentence of the user is no wish. For a goal or a
 * step none of a tool.
 */
function replacementOf(text: string, fault: Fault, support: Support): SaidSentence | undefined {
  const said = insteadOf(text, fault, support);
  const { quote = '', userOnly, isGuiding } = support.replacing;
  if (isGuiding && said?.speaker === 'tool') return undefined;
  if (!userOnly || (said !== undefined && isPartOf(said.text, quote))) return said;
  return support.near().sentences.find((sentence) => isPartOf(sentence.text, quote));
}

/** The whole statement gives way to the sentence that it was made of. */
function wholeRepair(item: ArchivedItem, fault: Fault, support: Support): ArchivedItem | undefined {
  const said = replacementOf(item.text, fault, support);
  if (said === undefined) return undefined;
  return {
    ...item,
    ...verbatimFields({ ...said, day: support.replacing.turns.get(said.seq)?.day }),
  };
}

interface JudgedSentence {
  text: string;
  fault: Fault | undefined;
}

/** Of several sentences the supported ones stay; the others are replaced or left out. */
function partialRepair(
  item: ArchivedItem,
  sentences: readonly JudgedSentence[],
  support: Support,
): ArchivedItem | undefined {
  const sources = [...item.sources];
  const kept = new Set(sentences.flatMap(({ text, fault }) => (fault ? [] : [textKey(text)])));
  const texts = sentences.flatMap(({ text, fault }) => {
    if (fault === undefined) return [text];
    const said = replacementOf(text, fault, support);
    if (said === undefined || kept.has(textKey(said.text))) return [];
    sources.push(said.seq);
    return [verbatimText(said)];
  });
  if (texts.length === 0) return undefined;
  return { ...item, text: [...new Set(texts)].join(' '), sources: ascending(sources) };
}

/** Whether the user said the words that make an item of this section a rule. */
function holdsUserWords(item: ArchivedItem, { cited }: Replacing): boolean {
  if (item.section !== constraintSection) return true;
  const quote = textKey(item.quote ?? '');
  return quote !== '' && cited.some(({ userText }) => textKey(userText()).includes(quote));
}

/** Several sentences are judged one by one; what only all of them say together, such as a quote, as a whole. */
function judgeSentences(item: ArchivedItem, support: Support): Verdict {
  const texts = sentencesOf(item.text);
  const isOne = texts.length < 2;
  const sentences = (isOne ? [item.text] : texts).map((text) => ({
    text,
    fault: faultIn(text, support),
  }));
  const faults = sentences.flatMap(({ fault }) => fault ?? []);
  const [first] = faults;
  const whole = isOne || first !== undefined ? [] : unsupportedBy(item.text, support.sources);
  if (first === undefined && whole.length === 0) return { kind: 'keep' };
  const repaired =
    isOne && first !== undefined
      ? wholeRepair(item, first, support)
      : partialRepair(item, sentences, support);
  if (repaired !== undefined) return { kind: 'repair', item: repaired };
  const unsupported = [...new Set([...faults.flatMap((fault) => fault.unsupported), ...whole])];
  return support.mayBeUnseen ? { kind: 'keep' } : { kind: 'drop', unsupported };
}

/**
 * Whether the turns that an item cites, or what it was before, hold every figure, identifier, date, link
 * and quote of it, and say the figures about the same; for a constraint the user's words alone count. What is
 * not supported is replaced by the sentence it was made of, word for word; where none is found, the item goes.
 */
export function judgeItem(changed: ChangedItem, turns: ReadonlyMap<number, CitedTurn>): Verdict {
  const { item } = changed;
  const support = supportOf(changed, turns);
  if (!holdsUserWords(item, support.replacing)) return { kind: 'drop', unsupported: [] };
  const isQuoted = item.quote !== undefined;
  if (!isQuoted && isWordForWord(item.text, support)) return { kind: 'keep' };
  return judgeSentences(item, support);
}
