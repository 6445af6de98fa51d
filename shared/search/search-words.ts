import { graphemes } from '#shared/text/cut.ts';

/**
 * Words that say nothing about what is looked for: a query is asked without them, if anything is left.
 * English, and of German, French and Spanish those that are no English words. Without accents.
 */
export const stopWords: ReadonlySet<string> = new Set(
  `a an the and or but if then so of to in on at by for from with about into onto over as
  is are was were be been being am do does did doing done have has had having
  i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs
  this that these those there here who whom whose which what when where why how
  can could would shall should might must not no nor than too very just also any some such only own same
  s t re ve ll d m don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn ain
  der das ein eine und oder ist sind wer wie wann warum welche welcher welches
  le les une et qui que quoi quand pourquoi el una unos quien cuando como donde cual`.split(/\s+/u),
);

/*
 * Texts as a search sees them. Scripts that put spaces between words give words; scripts that do not, and
 * Hangul, whose words carry particles, give runs of characters in which anything can be looked for.
 */

const RUN_SCRIPTS =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';

/**
 * A number with its separators (amount, date, time, version), a run of such characters, or a word of any other
 * script; all begin with a letter or digit. Nothing may follow the number: it must never be tried again.
 */
const PIECE = new RegExp(
  `[0-9]+(?:[.,:/-][0-9]+)+|(?=[\\p{L}\\p{N}])[${RUN_SCRIPTS}](?:(?=[\\p{L}\\p{N}\\p{M}])[${RUN_SCRIPTS}\\p{M}])*` +
    `|[\\p{L}\\p{N}](?:(?![${RUN_SCRIPTS}])[\\p{L}\\p{N}\\p{M}])*`,
  'gu',
);
const RUN_START = new RegExp(`^[${RUN_SCRIPTS}]`, 'u');

/** Accents of Latin, Greek and Cyrillic letters. Marks of other scripts tell letters apart. */
const ACCENTS = /[\u0300-\u036f]/g;

/** Commas that only make an amount easier to read. */
const THOUSANDS = /^[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$/;
const ASCII = /^[\0-\x7f]*$/;

/**
 * Text without what a search does not tell apart: case, accents, width and composition of characters, and
 * how an amount is separated.
 */
const folded = (text: string) =>
  ASCII.test(text)
    ? (THOUSANDS.test(text) ? text.replaceAll(',', '') : text).toLowerCase()
    : text.normalize('NFKD').replaceAll(ACCENTS, '').normalize('NFC').toLowerCase();

export interface SearchPiece {
  kind: 'word' | 'run';
  /** Folded. */
  text: string;
  /** Place in the text as it was given, UTF-16 units. */
  index: number;
  /** Place in the text as it was given of each unit of `text`; absent: they follow one another. */
  places?: readonly number[];
}

/** Where each unit of the folded text comes from, for the few runs that folding makes longer or shorter. */
function unevenRun(raw: string, index: number): SearchPiece {
  const places: number[] = [];
  let text = '';
  for (const { segment, index: within } of graphemes().segment(raw)) {
    const part = folded(segment);
    text += part;
    for (let i = 0; i < part.length; i++) places.push(index + within);
  }
  return { kind: 'run', text, index, places };
}

/** What `PIECE` finds where no such character is, several times as fast. */
const SPACED_PIECE = /[0-9]+(?:[.,:/-][0-9]+)+|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const HAS_RUN = new RegExp(`[${RUN_SCRIPTS}]`, 'u');

/** The words and runs of a text, in order. */
export function* searchPieces(text: string): Generator<SearchPiece> {
  const hasRun = HAS_RUN.test(text);
  for (const { 0: raw, index } of text.matchAll(hasRun ? PIECE : SPACED_PIECE)) {
    const kind = hasRun && RUN_START.test(raw) ? 'run' : 'word';
    const flat = folded(raw);
    // A word is found as a whole: it needs no places.
    if (kind === 'word' || flat.length === raw.length) yield { kind, text: flat, index };
    else yield unevenRun(raw, index);
  }
}

/** The same where no character is beyond ASCII, of a text in lower case. */
const PLAIN_PIECE = /[0-9]+(?:[.,:/-][0-9]+)+|[a-z0-9]+/g;

/** What the words and runs of a text are, in order, wherever they stand: of plain texts several times as fast. */
export const piecesWithoutPlaces = (text: string): Iterable<Pick<SearchPiece, 'kind' | 'text'>> =>
  ASCII.test(text)
    ? (text.toLowerCase().match(PLAIN_PIECE) ?? []).map((piece) => ({
        kind: 'word',
        text: piece.includes(',') ? folded(piece) : piece,
      }))
    : searchPieces(text);

/** Place in the original text of unit `at` of a piece. */
export const placeIn = ({ index, places }: SearchPiece, at: number) => places?.[at] ?? index + at;

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
