/*
 * Texts as a search sees them. Scripts that put spaces between words give words; scripts that do not, and
 * Hangul, whose words carry particles, give runs of characters in which anything can be looked for.
 */

const RUN_SCRIPTS =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';

/** A run of such characters, or a word of any other script; both begin with a letter or digit. */
const PIECE = new RegExp(
  `(?=[\\p{L}\\p{N}])[${RUN_SCRIPTS}](?:(?=[\\p{L}\\p{N}\\p{M}])[${RUN_SCRIPTS}\\p{M}])*` +
    `|[\\p{L}\\p{N}](?:(?![${RUN_SCRIPTS}])[\\p{L}\\p{N}\\p{M}])*`,
  'gu',
);
const RUN_START = new RegExp(`^[${RUN_SCRIPTS}]`, 'u');

/** Accents of Latin, Greek and Cyrillic letters. Marks of other scripts tell letters apart. */
const ACCENTS = /[\u0300-\u036f]/g;

/** Text without what a search does not tell apart: case, accents, width and composition of characters. */
const folded = (text: string) =>
  text.normalize('NFKD').replaceAll(ACCENTS, '').normalize('NFC').toLowerCase();

export interface SearchPiece {
  kind: 'word' | 'run';
  /** Folded. */
  text: string;
  /** Place in the text as it was given, UTF-16 units. */
  index: number;
  /** Place in the text as it was given of each unit of `text`; absent: they follow one another. */
  places?: readonly number[];
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Where each unit of the folded text comes from, for the few pieces that folding makes longer or shorter. */
function unevenPiece(kind: SearchPiece['kind'], raw: string, index: number): SearchPiece {
  const places: number[] = [];
  let text = '';
  for (const { segment, index: within } of graphemes.segment(raw)) {
    const part = folded(segment);
    text += part;
    for (let i = 0; i < part.length; i++) places.push(index + within);
  }
  return { kind, text, index, places };
}

/** The words and runs of a text, in order. */
export function* searchPieces(text: string): Generator<SearchPiece> {
  for (const { 0: raw, index } of text.matchAll(PIECE)) {
    const kind = RUN_START.test(raw) ? 'run' : 'word';
    const flat = folded(raw);
    if (flat.length === raw.length) yield { kind, text: flat, index };
    else yield unevenPiece(kind, raw, index);
  }
}

/** Place in the original text of unit `at` of a piece. */
export const placeIn = ({ index, places }: SearchPiece, at: number) => places?.[at] ?? index + at;
