import { holdsPhrase, type Phrases } from '#shared/compaction/facts/languages/phrases.ts';

const numbers = String.raw`#?\d{1,6}(?:\s?(?:[-–~,&]|and|to)\s?#?\d{1,6}){0,12}`;
const named = String.raw`(?:turns?|ターン|轮次|턴)\s?${numbers}`;
/** `(turn 12)`, `[turns 3, 5]`, `(see turns 11-14)`. */
const inBrackets = new RegExp(
  String.raw`\s?[([（](?:(?:see|in|at|from|cf\.?)\s)?${named}[)\]）]`,
  'giu',
);
/** `in turn 12`, `since turns 3 and 4`; `Turn 12:` in front of a statement. Others turn, or take turns. */
const inWords = new RegExp(
  String.raw`^${named}\s?:\s|\s\b(?:see|in|at|from|since|per|as of|of)\s${named}(?![\p{L}\d])`,
  'giu',
);

/**
 * A statement without its references to numbered turns: only the summariser saw those numbers. What a source says in
 * the same words stays (a game has turns too).
 */
export function withoutTurnReferences(text: string, sources: readonly Phrases[]): string {
  if (!/turn|ターン|轮次|턴/iu.test(text)) return text;
  const isSaid = (found: string): boolean =>
    sources.some((phrases) => holdsPhrase(phrases, found.replaceAll(/[()[\]（）]/gu, ' ').trim()));
  const cut = (found: string): string => (isSaid(found) ? found : '\u0000');
  return text
    .replaceAll(inBrackets, cut)
    .replaceAll(inWords, cut)
    .replaceAll(/\s*\0+(?=[,;.，；。])|\0+/gu, '')
    .trim();
}
