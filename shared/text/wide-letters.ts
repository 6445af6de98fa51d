const wideLetter = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;

/** How many letters of a text stand for a syllable or a word each: they say as much as several others. */
export const countWideLetters = (text: string): number => text.match(wideLetter)?.length ?? 0;
