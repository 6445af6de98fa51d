import {
  PAIRS_ALONE,
  readSearchQuery,
  countUnits,
  type SearchQuery,
} from '../search/search-query.ts';
import { stopWords } from '../search/search-words.ts';
import { cutHead, cutTail } from '#shared/text/cut.ts';
import { isThanks, politeWords, withoutSmallTalk } from './small-talk.ts';

/**
 * A query has room for some thirty words: of a longer message those of its end come first, where the question stands, then
 * those of its beginning. UTF-16 units.
 */
const END_CHARACTERS = 200;
const BEGINNING_CHARACTERS = 1_500;

/** Where a message says what it is about. */
export const tellingParts = (text: string): string =>
  text.length <= END_CHARACTERS
    ? text
    : `${cutTail(text, END_CHARACTERS)}\n${cutHead(text.slice(0, -END_CHARACTERS), BEGINNING_CHARACTERS)}`;

/** What a text is about, as a look-up asks for it; nothing where it is about nothing. */
function queryOf(text: string): SearchQuery | undefined {
  const asked = readSearchQuery(withoutSmallTalk(tellingParts(text)), PAIRS_ALONE);
  const words = asked.words.filter(
    ({ text: word }) => !stopWords.has(word) && !politeWords.has(word),
  );
  const query = { ...asked, words };
  return countUnits(query) > 0 ? query : undefined;
}

/**
 * What a turn's message is about: its own words or, where it has none ("And then?"), those of the last answer; nothing where
 * it only thanks or takes leave.
 */
export function recallQuery(
  message: string,
  lastAnswer: string | undefined,
): SearchQuery | undefined {
  const own = queryOf(message);
  if (own || lastAnswer === undefined || isThanks(message)) return own;
  return queryOf(lastAnswer);
}
