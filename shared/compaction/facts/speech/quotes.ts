import { findAll, type Finder, type FactMatch } from '../index/fact-match.ts';
import { plainText } from './plain-text.ts';
import { holdsSign, signs } from '../index/signs.ts';

/** Pairs of quotes after folding; nothing longer than 120 characters, nothing over a line's end. */
const quoted =
  /(?<![\w])"([^"\n]{2,120})"(?!\w)|«\s?([^«»\n]{2,120})\s?»|„([^„"\n]{2,120})"|「([^「」\n]{1,120})」|『([^『』\n]{1,120})』|《([^《》\n]{1,120})》|(?<![\w'])'([^'\n]{2,80})'(?![\w'])|(?<!`)`([^`\n]{2,120})`(?!`)/gu;

/** An opening mark; an apostrophe within a word opens nothing. */
const mayHold = /["«„「『《`]|(?<!\w)'/;

/** Words in quotation marks, titles and code words in back quotes, without the marks. */
export const findQuotes: Finder = (text) =>
  holdsSign(text, signs.quote | signs.beyondAscii) && mayHold.test(text)
    ? findAll(text, quoted, readQuote)
    : [];

function readQuote(match: RegExpExecArray): FactMatch | undefined {
  const inner = match.slice(1).find((group) => group !== undefined) ?? '';
  const words = inner.trim().replace(/[.,!?;:。，！？、\\]{1,3}$/u, '');
  const key = plainText(words).trim();
  if (!/[\p{L}\p{N}]/u.test(key)) return undefined;
  const start = match.index + match[0].indexOf(words);
  return { kind: 'quoted', start, end: start + words.length, readings: [key] };
}
