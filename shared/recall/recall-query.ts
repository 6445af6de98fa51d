import { PAIRS_ALONE, readSearchQuery, unitsOf, type SearchQuery } from '../search/search-query.ts';
import { stopWords } from '../search/stop-words.ts';
import { headOf, tailOf } from '../text-cut.ts';
import { isThanks, politeWords, withoutSmallTalk } from './small-talk.ts';

/** Of a long message its beginning and its end are looked up: there it says what it is about. UTF-16 units. */
const BEGINNING_CHARACTERS = 1_500;
const END_CHARACTERS = 500;

/** Where a message says what it is about: a long one at its beginning and its end. */
export const tellingParts = (text: string): string =>
  text.length <= BEGINNING_CHARACTERS + END_CHARACTERS
    ? text
    : `${headOf(text, BEGINNING_CHARACTERS)}\n${tailOf(text, END_CHARACTERS)}`;

/** What a text is about, as a look-up asks for it; nothing where it is about nothing. */
function queryOf(text: string): SearchQuery | undefined {
  const asked = readSearchQuery(withoutSmallTalk(tellingParts(text)), PAIRS_ALONE);
  const words = asked.words.filter(
    ({ text: word }) => !stopWords.has(word) && !politeWords.has(word),
  );
  const query = { ...asked, words };
  return unitsOf(query) > 0 ? query : undefined;
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
