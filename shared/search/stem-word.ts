/* Forms of English words that no ending tells, beside the form that they are looked for by. */

const ROWS = `
be been being|become became|begin began begun|bite bit bitten|blow blew blown|break broke broken|bring brought
build built|buy bought|catch caught|choose chose chosen|come came|deal dealt|dig dug|draw drew drawn
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
fly flew flown|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten
give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept
know knew known|lead led|lend lent|leave left|lose lost|make made|mean meant|meet met|pay paid
ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent
shake shook shaken|shine shone|shoot shot|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid
speak spoke spoken|spend spent|stand stood|steal stole stolen|stick stuck|strike struck|swim swam swum
take took taken|teach taught|tell told|think thought|throw threw thrown|understand understood
wake woke woken|wear wore worn|win won|write wrote written
child children|foot feet|goose geese|knife knives|leaf leaves|life lives|man men|mouse mice|person people
shelf shelves|tooth teeth|wife wives|wolf wolves|woman women`;

/** Base form of each irregular one; both in lower case. */
const irregularForms: ReadonlyMap<string, string> = new Map(
  ROWS.split(/[|\n]/u).flatMap((row) => {
    const [base = '', ...forms] = row.split(' ');
    return forms.map((form) => [form, base] as const);
  }),
);

/** Words that are longer are looked for as they are: identifiers, not English. */
const STEM_CHARACTERS_MAX = 24;

const ENGLISH_LETTERS = /^[a-z]{3,}$/u;
const HAS_VOWEL = /[aeiouy]/u;
/** A consonant that was doubled before an ending; `ll`, `ss` and `zz` are mostly of the word itself. */
const DOUBLED = /([bdfgkmnprtv])\1$/u;

function withoutPlural(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|z|ch|sh)es$/u.test(word)) return word.slice(0, -2);
  return word.endsWith('s') && !/(?:ss|us|is)$/u.test(word) ? word.slice(0, -1) : word;
}

function withoutVerbEnding(word: string): string {
  for (const ending of ['ing', 'ed']) {
    if (!word.endsWith(ending)) continue;
    const rest = word.slice(0, -ending.length);
    if (rest.length > 2 && HAS_VOWEL.test(rest)) return rest.replace(DOUBLED, '$1');
  }
  return word;
}

const withoutAdverbEnding = (word: string) =>
  word.endsWith('ly') && word.length > 5 ? word.slice(0, -2) : word;

/** `hope`, `hop(ed)` and `hop(ing)` end alike, and so do `carry` and `carri(ed)`. */
function withOneEnd(word: string): string {
  if (word.length > 3 && word.endsWith('e')) return word.slice(0, -1);
  return word.length > 3 && word.endsWith('y') ? `${word.slice(0, -1)}i` : word;
}

/**
 * The same text for the forms of an English word (plural, tense, adverb), in lower case: no word itself, only
 * for comparing. A heuristic: some words that differ fall together (`hop`, `hope`), some forms do not.
 * Words of other languages lose an ending at most, the same one in query and text.
 */
export function stemWord(word: string): string {
  if (word.length > STEM_CHARACTERS_MAX || !ENGLISH_LETTERS.test(word)) return word;
  const base = irregularForms.get(word) ?? word;
  if (base.length <= 3) return base;
  return withOneEnd(withoutAdverbEnding(withoutVerbEnding(withoutPlural(base))));
}
