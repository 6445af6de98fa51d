import { irregularForms } from './irregular-forms.ts';

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
