import { plainText } from '#shared/text/plain-text.ts';
import { functionWords, STEM_CHARACTERS } from '#shared/text/words.ts';

/** Letters of scripts that put no blanks between words. */
export const unspacedScript = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}ー々`;
const negations =
  /(?<!\p{L})(?:not|n't|never|no|none|without|avoid|don't|doesn't|cannot|can't|won't|mustn't|shouldn't|nicht|nie|niemals|kein\p{L}{0,2}|ohne|ne|pas|jamais|sans|no|nunca|jamás|sin|não|jamais|sem|non|mai|senza)(?!\p{L})|n't(?!\p{L})|지\s?(?:마|말|않)|(?:못|안)\s|없|금지|제외|ない|ません|禁止|苦手|嫌|避け|不|别|勿|没|禁|讨厌/u;
const word = new RegExp(
  `[${unspacedScript}]{1,400}|[\\p{L}\\p{M}\\p{N}]+(?:['.:/@_-][\\p{L}\\p{M}\\p{N}]+)*`,
  'gu',
);
const unspaced = new RegExp(`^[${unspacedScript}]`, 'u');
/** Whether a plain text forbids or denies something. */
export const isNegated = (plain: string): boolean => negations.test(plain);

/** Polite endings and pronouns, which a note of the same wish leaves out. */
const endings =
  /(?:습니다|입니다|합니다|십시오|주세요|이에요|예요|어요|아요|해요|세요|요|でください|てください|ください|下さい|お願いします|んです|です|ます)$/u;
const easternPronoun = /^(?:저는|나는|제가|내가|저희는|우리는|私は|僕は)/u;

function pairsOf(run: string): string[] {
  const characters = Array.from(run.replace(easternPronoun, '').replace(endings, ''));
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, at) => `${characters[at] ?? ''}${character}`);
}

/**
 * The words of a text that say something: stems of words in spaced scripts, pairs of characters in
 * others. Numbers whole.
 */
export function contentWords(text: string): string[] {
  const words: string[] = [];
  for (const found of plainText(text).match(word) ?? []) {
    if (unspaced.test(found)) words.push(...pairsOf(found));
    else if (/\d/.test(found)) words.push(found);
    else if (!functionWords.has(found))
      words.push(
        found.length <= STEM_CHARACTERS
          ? found
          : Array.from(found).slice(0, STEM_CHARACTERS).join(''),
      );
  }
  return words;
}
