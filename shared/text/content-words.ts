import { plainText, unspacedScript } from '#shared/text/plain-text.ts';

/** Words that say nothing by themselves, in several languages. */
export const functionWords: ReadonlySet<string> = new Set(
  `a an the this that these those it its is are was were be been am i i'm i'd i'll i've me my we our us you your he she they them
  to of in on at by for with from as and or but so if then than there here will would can could should do does did have has
  had just also too very really please user der die das ein eine und oder ich sie wir es ist sind zu mit von für auf im am bitte
  le la les un une des et ou je tu il elle nous vous de du à au en que qui est sont el los las y o yo que es son por para
  con o os as e ou eu que é são um uma para com il lo gli i un una e o io che è sono per con di si`.split(
    /\s+/,
  ),
);
const negations =
  /(?<!\p{L})(?:not|n't|never|no|none|without|avoid|don't|doesn't|cannot|can't|won't|mustn't|shouldn't|nicht|nie|niemals|kein\p{L}{0,2}|ohne|ne|pas|jamais|sans|no|nunca|jamás|sin|não|jamais|sem|non|mai|senza)(?!\p{L})|n't(?!\p{L})|지\s?(?:마|말|않)|(?:못|안)\s|없|금지|제외|ない|ません|禁止|苦手|嫌|避け|不|别|勿|没|禁|讨厌/u;
const word = new RegExp(
  `[${unspacedScript}]{1,400}|[\\p{L}\\p{M}\\p{N}]+(?:['.:/@_-][\\p{L}\\p{M}\\p{N}]+)*`,
  'gu',
);
const unspaced = new RegExp(`^[${unspacedScript}]`, 'u');
/** Endings change with the grammar; what is compared is the beginning of a word. */
export const STEM_CHARACTERS = 6;

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
