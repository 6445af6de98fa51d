import { holdsSign, signs } from '../index/signs.ts';
import { findAll, type Finder, type FactMatch } from '../index/fact-match.ts';
import { plainText } from '#shared/text/plain-text.ts';

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

/** A stretch of a text, `end` not included. */
export interface TextSpan {
  start: number;
  end: number;
}

/** What ends a stretch that a mark begins. */
const closers: Readonly<Record<string, string>> = {
  '"': '"',
  '＂': '＂',
  "'": "'",
  '“': '”"',
  '„': '“”"',
  '‘': '’',
  '«': '»',
  '»': '«',
  '「': '」',
  '『': '』',
};
const mark = /["＂'“”„‘’«»「」『』]/g;
/** A letter or figure of a script that puts blanks between words. */
const wordSign = /(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}])[\p{L}\p{N}_]/u;
const blank = /\s/u;
/** Marks that also stand for inches, apostrophes or missing letters: where they stand tells. */
const ambiguous: ReadonlySet<string> = new Set(['"', '＂', "'", '»']);
/** Deeper quotations are not told apart. */
const DEPTH_MAX = 8;

const isBlank = (sign: string): boolean => sign === '' || blank.test(sign);

interface OpenMark {
  sign: string;
  start: number;
}

/** The innermost open mark that `sign` closes, as its place in `open`; -1 where there is none. */
function closedBy(sign: string, open: readonly OpenMark[], around: [string, string]): number {
  if (sign === "'" || sign === '’' || sign === '"' || sign === '＂') {
    const [before, after] = around;
    if ((sign !== '’' && isBlank(before)) || wordSign.test(after)) return -1;
  }
  return open.findLastIndex((one) => closers[one.sign]?.includes(sign));
}

function opens(sign: string, [before, after]: [string, string]): boolean {
  if (!(sign in closers)) return false;
  return !ambiguous.has(sign) || (!wordSign.test(before) && !isBlank(after));
}

/**
 * Stretches in quotation marks, marks included, in the order of their ends; also those within others. What is never closed
 * is none, and single marks quote nothing over the end of a line. Linear.
 */
export function quotedSpans(text: string): TextSpan[] {
  if (!holdsSign(text, signs.quote | signs.beyondAscii)) return [];
  const spans: TextSpan[] = [];
  const open: OpenMark[] = [];
  for (const { 0: sign, index } of text.matchAll(mark)) {
    const around: [string, string] = [text.charAt(index - 1), text.charAt(index + 1)];
    const at = closedBy(sign, open, around);
    const start = open[at]?.start;
    if (start !== undefined) {
      open.length = at;
      const isOfLines = sign !== "'" || !text.slice(start, index).includes('\n');
      if (isOfLines) spans.push({ start, end: index + 1 });
    } else if (opens(sign, around)) {
      if (open.length === DEPTH_MAX) open.shift();
      open.push({ sign, start: index });
    }
  }
  return spans;
}
