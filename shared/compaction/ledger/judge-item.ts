import { constraintSection, type ArchivedItem } from '../../conversation/snapshot.ts';
import { indexFacts, type FactIndex } from '../facts/fact-index.ts';
import { sentencesOf } from '../facts/sentences.ts';
import { unsupportedIn } from '../facts/unsupported.ts';
import type { ChangedItem } from './changed-items.ts';
import type { CitedTurn, SaidText } from './cited-turns.ts';
import { textKey } from './item-text.ts';
import { literalFigures, readFigures, unreadFigures } from './literal-figures.ts';
import { saidSentence, type Replacing } from './said-sentence.ts';
import { verbatimFields, verbatimText } from './verbatim-item.ts';
import { standsIn } from './word-for-word.ts';

export type Verdict =
  | { kind: 'keep' }
  | { kind: 'repair'; item: ArchivedItem }
  /** `unsupported` is empty where a constraint has no words of the user. */
  | { kind: 'drop'; unsupported: string[] };

/** One turn, or what the item said before, as something to check against; read when it is needed. */
type Source = SaidText;

interface Support {
  /** Most items are held by the first turn that they cite. */
  sources: readonly Source[];
  replacing: Replacing;
  /** A picture may say what no text says. */
  mayBeUnseen: boolean;
}

/** What an item that was there before said, or the one that it took the place of. */
function earlierSource({ before, superseded }: ChangedItem): Source {
  const texts = [before, superseded].flatMap((known) =>
    known === undefined ? [] : [known.text, known.quote ?? '', known.at ?? ''],
  );
  const index = (): FactIndex => indexFacts(texts);
  return {
    index,
    figures: () => literalFigures(texts.join('\n')),
    says: (statement) => standsIn(index().phrases(), statement),
  };
}

function supportOf(changed: ChangedItem, turns: ReadonlyMap<number, CitedTurn>): Support {
  const { item } = changed;
  const cited = item.sources.flatMap((seq) => turns.get(seq) ?? []);
  const userOnly = item.section === constraintSection;
  const said = cited.map((turn) => (userOnly ? turn.user : turn.all));
  return {
    sources: [...said, earlierSource(changed)],
    replacing: { quote: item.quote, cited, turns, userOnly },
    mayBeUnseen: cited.some(({ holdsMedia }) => holdsMedia),
  };
}

/** Whether a figure is read in the same way without the words around it. */
const standsAlone = (figure: string): boolean => readFigures(figure).includes(figure);

/** What none of the sources holds; nothing of a text that stands in one word for word. After the first of them the figures alone are looked for, if they can be. */
function unsupportedBy(text: string, sources: readonly Source[]): string[] {
  const [first, ...others] = sources;
  let unsupported = first === undefined ? [] : unsupportedIn(text, first.index());
  const isAlone = new Map(unsupported.map((figure) => [figure, standsAlone(figure)]));
  for (const { index } of others) {
    if (unsupported.length === 0) break;
    unsupported = unsupported.filter((figure) =>
      unsupportedIn(isAlone.get(figure) === true ? figure : text, index()).includes(figure),
    );
  }
  const unread = unreadFigures(text).filter((figure) =>
    [first, ...others].every((source) => source?.figures().has(figure) !== true),
  );
  const all = [...unsupported, ...unread];
  return all.length > 0 && sources.some(({ says }) => says(text)) ? [] : all;
}

const ascending = (seqs: readonly number[]): number[] =>
  [...new Set(seqs)].toSorted((one, other) => one - other);

/** The whole statement gives way to the sentence that it was made of. */
function wholeRepair(item: ArchivedItem, { replacing }: Support): ArchivedItem | undefined {
  const said = saidSentence(item.text, replacing);
  if (said === undefined) return undefined;
  return { ...item, ...verbatimFields({ ...said, day: replacing.turns.get(said.seq)?.day }) };
}

/** Of several sentences the supported ones stay; the others are replaced or left out. */
function partialRepair(
  item: ArchivedItem,
  sentences: readonly string[],
  { sources: known, replacing }: Support,
): ArchivedItem | undefined {
  const sources = [...item.sources];
  const texts = sentences.flatMap((sentence) => {
    if (unsupportedBy(sentence, known).length === 0) return [sentence];
    const said = saidSentence(sentence, replacing);
    if (said === undefined) return [];
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

/**
 * Whether the turns that an item cites, or what it was before, hold every figure, identifier, date, link
 * and quote of it; for a constraint the user's words alone count. What is not supported is replaced by
 * the sentence it was made of, word for word; where none is found, the item goes.
 */
export function judgeItem(changed: ChangedItem, turns: ReadonlyMap<number, CitedTurn>): Verdict {
  const { item } = changed;
  const support = supportOf(changed, turns);
  if (!holdsUserWords(item, support.replacing)) return { kind: 'drop', unsupported: [] };
  const unsupported = unsupportedBy(item.text, support.sources);
  if (unsupported.length === 0) return { kind: 'keep' };
  const sentences = sentencesOf(item.text);
  const repaired =
    sentences.length > 1 ? partialRepair(item, sentences, support) : wholeRepair(item, support);
  if (repaired !== undefined) return { kind: 'repair', item: repaired };
  return support.mayBeUnseen ? { kind: 'keep' } : { kind: 'drop', unsupported };
}
