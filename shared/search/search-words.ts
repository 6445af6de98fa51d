import { graphemes } from '../text/cut.ts';

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
