import { constraintSection } from '../../conversation/snapshot.ts';
import { once } from '../../once.ts';
import { indexFacts, type FactIndex } from '../facts/fact-index.ts';
import { unsupportedIn } from '../facts/unsupported.ts';
import { precisionConstants } from '../precision-constants.ts';
import type { ChangedItem } from './changed-items.ts';
import type { CitedTurn, SaidSentence, SaidText } from './cited-turns.ts';
import { isGuiding } from './guiding-sections.ts';
import { literalFigures, readFigures, unreadFigures } from './literal-figures.ts';
import { isFigureSaid } from './misplaced-figures.ts';
import type { Replacing } from './said-sentence.ts';
import { standsIn } from './word-for-word.ts';

/** One turn, or what the item said before, as something to check against; read when it is needed. */
type Source = SaidText;

/** The sentences of the cited turns. */
export interface NearSentences {
  sentences: readonly SaidSentence[];
  /** There are more of them than are compared. */
  isCut: boolean;
}

export interface Support {
  near: () => NearSentences;
  /** What the item said before, or what it took the place of. */
  earlier: readonly string[];
  /** Most items are held by the first turn that they cite. */
  sources: readonly Source[];
  replacing: Replacing;
  /** A picture may say what no text says. */
  mayBeUnseen: boolean;
}

/** What an item that was there before said, or the one that it took the place of. */
const earlierTexts = ({ before, superseded }: ChangedItem): string[] =>
  [before, superseded].flatMap((known) =>
    known === undefined ? [] : [known.text, known.quote ?? '', known.at ?? ''],
  );

function earlierSource(texts: readonly string[]): Source {
  const index = (): FactIndex => indexFacts(texts);
  return {
    index,
    figures: () => literalFigures(texts.join('\n')),
    says: (statement) => standsIn(index().phrases(), statement),
  };
}

function sentencesNear(cited: readonly CitedTurn[], userOnly: boolean): NearSentences {
  const sentences: SaidSentence[] = [];
  let isCut = false;
  for (const turn of cited) {
    if (sentences.length >= precisionConstants.alignedSentenceLimit.value)
      return { sentences, isCut: true };
    isCut ||= turn.isCut();
    for (const sentence of turn.sentences())
      if (!userOnly || sentence.speaker === 'user') sentences.push(sentence);
  }
  return { sentences, isCut };
}

/** What an item is checked against. Nothing is read before it is asked for. */
export function supportOf(changed: ChangedItem, turns: ReadonlyMap<number, CitedTurn>): Support {
  const { item } = changed;
  const cited = item.sources.flatMap((seq) => turns.get(seq) ?? []);
  const userOnly = item.section === constraintSection;
  const said = cited.map((turn) => (userOnly ? turn.user : turn.all));
  const earlier = earlierTexts(changed);
  return {
    near: once(() => sentencesNear(cited, userOnly)),
    earlier,
    sources: [...said, earlierSource(earlier)],
    replacing: { quote: item.quote, cited, turns, userOnly, isGuiding: isGuiding(item.section) },
    mayBeUnseen: cited.some(({ holdsMedia }) => holdsMedia),
  };
}

/** Whether a figure is read in the same way without the words around it. */
const standsAlone = (figure: string): boolean => readFigures(figure).includes(figure);

/** What none of the sources holds; nothing of a text that stands in one word for word. After the first of them the figures alone are looked for, if they can be. */
export function unsupportedBy(text: string, sources: readonly Source[]): string[] {
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
    sources.every(
      ({ figures, index }) => !isFigureSaid(figure, { figures: figures(), index: index() }),
    ),
  );
  const all = [...unsupported, ...unread];
  return all.length > 0 && sources.some(({ says }) => says(text)) ? [] : all;
}

/** Whether one of the sources says a text as it is. */
export const isWordForWord = (text: string, { sources }: Support): boolean =>
  sources.some(({ says }) => says(text));
