import { PAIRS_ALONE, readSearchQuery, unitsOf, type SearchQuery } from '../search/search-query.ts';
import { stopWords } from '../search/stop-words.ts';
import { headOf, tailOf } from '../text-cut.ts';

/** Of a long message its beginning and its end are looked up: there it says what it is about. UTF-16 units. */
const BEGINNING_CHARACTERS = 1_500;
const END_CHARACTERS = 500;

/** What people say to one another whatever they talk about; as words are folded for a search. */
const politeWords: ReadonlySet<string> = new Set(
  `thanks thank thx please pls hi hey hello hiya good great nice fine okay ok yes yeah yep yup nope sure sorry bye
  goodbye morning evening night afternoon wow cool awesome amazing haha lol well oh welcome really right glad
  danke bitte hallo tschuss tschuß ja nein gut merci bonjour salut oui non gracias hola adios si bueno vale ciao grazie
  obrigado obrigada ola`.split(/\s+/u),
);

/** The same in scripts without spaces; longer ones first. */
const POLITE_PHRASES =
  /ありがとう(?:ございま(?:す|した))?|おはよう(?:ございます)?|こんにち[はわ]|こんばん[はわ]|すみません|お願いします|谢谢[你您]?|謝謝[你您]?|[你您]好|早上好|晚上好|再见|再見|好的|对不起|没关系|감사합니다|고마워요?|안녕(?:하세요|히)?|죄송합니다/gu;

const partsOf = (text: string) =>
  text.length <= BEGINNING_CHARACTERS + END_CHARACTERS
    ? text
    : `${headOf(text, BEGINNING_CHARACTERS)}\n${tailOf(text, END_CHARACTERS)}`;

/** What a text is about, as a look-up asks for it; nothing where it is about nothing. */
function queryOf(text: string): SearchQuery | undefined {
  const asked = readSearchQuery(partsOf(text).replaceAll(POLITE_PHRASES, ' '), PAIRS_ALONE);
  const words = asked.words.filter(
    ({ text: word }) => !stopWords.has(word) && !politeWords.has(word),
  );
  const query = { ...asked, words };
  return unitsOf(query) > 0 ? query : undefined;
}

/** What a turn's message is about: its own words or, where it has none ("And then?"), those of the last answer. */
export const recallQuery = (
  message: string,
  lastAnswer: string | undefined,
): SearchQuery | undefined =>
  queryOf(message) ?? (lastAnswer === undefined ? undefined : queryOf(lastAnswer));
