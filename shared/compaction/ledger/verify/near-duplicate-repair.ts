import type { ArchivedItem } from '#shared/conversation/documents/snapshot.ts';
import { once } from '#shared/once.ts';
import { splitSentences } from '#shared/text/sentences.ts';
import { precisionConstants } from '#shared/compaction/policy/precision-constants.ts';
import type { SaidSentence, CitedTurn, CitedTurns } from '../operations/cited-turns.ts';
import { textKey } from '#shared/text/one-line.ts';
import { verbatimFields, verbatimText } from '../items/verbatim-item.ts';
import { distinctWords } from '#shared/text/words.ts';
import { writtenFigures } from './exchanged-figures.ts';
import { saidSentence } from './said-sentence.ts';
import { compareNearDuplicates, exchangedAgainst } from './near-duplicate.ts';

interface TwinInput {
  item: ArchivedItem;
  cited: readonly CitedTurn[];
  turns: CitedTurns;
  /** Only the user's own words will do. */
  userOnly: boolean;
  /** It tells the model what to do next: no words of a tool will do. */
  isGuiding: boolean;
  /** What the item said before, or what it took the place of. */
  earlierTexts: readonly string[];
}

/** The sentences of the cited turns; of those with more of them only as many as can be compared. */
function sentencesNear({ cited, userOnly }: TwinInput): SaidSentence[] {
  const sentences = cited.flatMap((turn) => [...turn.sentences()]);
  const compared = sentences.slice(0, precisionConstants.comparedSentenceLimit.value);
  return userOnly ? compared.filter(({ speaker }) => speaker === 'user') : compared;
}

/** Whether two texts are one, or one is in the other. */
function isPartOf(one: string, other: string): boolean {
  const [key, otherKey] = [textKey(one), textKey(other)];
  return key !== '' && otherKey !== '' && (key.includes(otherKey) || otherKey.includes(key));
}

/** What was said instead of a sentence with other figures; undefined where the sentence may stand. */
type Correction = (sentence: string) => { said: SaidSentence | undefined } | undefined;

function correctionIn(input: TwinInput): Correction {
  const { item, turns, cited, userOnly, isGuiding, earlierTexts } = input;
  const sentences = once(() => sentencesNear(input));
  const known = new Set(earlierTexts.flatMap(writtenFigures));
  const dayOf = (seq: number): Date | undefined => turns.get(seq)?.saidAt;
  const mayStand = (said: SaidSentence | undefined): SaidSentence | undefined => {
    if (isGuiding && said?.speaker === 'tool') return undefined;
    const { quote = '' } = item;
    if (!userOnly || (said !== undefined && isPartOf(said.text, quote))) return said;
    return sentences().find((sentence) => isPartOf(sentence.text, quote));
  };
  return (text) => {
    if (!/\p{Nd}/u.test(text)) return undefined;
    const statement = { text, words: distinctWords(text) };
    const { quote } = item;
    if (quote !== undefined && exchangedAgainst(quote, statement).length > 0)
      return { said: mayStand(saidSentence(text, { quote, cited, turns, userOnly })) };
    if (cited.some((turn) => (userOnly ? turn.user : turn.all).says(text))) return undefined;
    const compared = compareNearDuplicates(statement, sentences(), { dayOf, known });
    return compared.kind === 'exchanged' ? { said: mayStand(compared.sentence) } : undefined;
  };
}

/** The item with `said` in the place of its sentence. */
function replaced(input: TwinInput, sentence: string, said: SaidSentence): ArchivedItem {
  const { item, turns } = input;
  if (textKey(sentence) === textKey(item.text))
    return { ...item, ...verbatimFields({ ...said, day: turns.dayOf(said.seq) }) };
  const sources = [...new Set([...item.sources, said.seq])].toSorted((a, b) => a - b);
  return { ...item, text: item.text.replace(sentence, () => verbatimText(said)), sources };
}

/**
 * The item with the sentences of its turns in the place of those that repeat them nearly word for word with other
 * figures: a copy with a wrong figure says nothing of its own. Undefined where there is none.
 */
export function repairNearDuplicates(input: TwinInput): ArchivedItem | undefined {
  const correct = correctionIn(input);
  const sentences = splitSentences(input.item.text);
  let item: ArchivedItem | undefined;
  for (const sentence of sentences.length < 2 ? [input.item.text] : sentences) {
    const correction = correct(sentence);
    if (correction?.said === undefined) continue;
    item = replaced({ ...input, item: item ?? input.item }, sentence, correction.said);
  }
  return item;
}
