import type { TextSpan } from './quoted-speech.ts';

/** What opens a mail is a short line, or stands at the beginning of one. */
export const LINE_CHARACTERS = 600;
/** As far as it is looked ahead who speaks again, or how long a paragraph is. */
const NEAR_LINES = 20;

const quotedLine = /^[ \t\u3000]{0,12}(?:[-*•]\s|\d{1,2}[.)]\s)?(?:\p{Lu}{1,3})?(?:[>＞]|&gt;)/u;
const fenceMark = /^[ \t]{0,12}(?:[-*•]\s)?(`{3,40}|~{3,40})/;

/** A line of a text, without its end. */
export interface TextLine extends TextSpan {
  text: string;
}

export function* textLines(text: string): Generator<TextLine> {
  let start = 0;
  while (start <= text.length) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    yield { start, end, text: text.slice(start, end) };
    start = end + 1;
  }
}

export const lineBeginning = ({ text }: TextLine): string => text.slice(0, LINE_CHARACTERS);
export const isEmpty = ({ text }: TextLine): boolean => text.trim() === '';
export const isQuotedLine = ({ text }: TextLine): boolean => quotedLine.test(text.slice(0, 40));
export const isFence = ({ text }: TextLine): boolean => fenceMark.test(text.slice(0, 30));

/** Where a code fence that begins at a line ends: behind the line that closes it. */
export function fenceEnd(lines: readonly TextLine[], at: number): number {
  const sign = fenceMark.exec(lines[at]?.text ?? '')?.[1] ?? '```';
  for (let next = at + 1; next < lines.length; next += 1)
    if (fenceMark.exec(lines[next]?.text ?? '')?.[1]?.startsWith(sign)) return next + 1;
  return lines.length;
}

/** The next line that says something, nearby. */
export const nextFull = (lines: readonly TextLine[], from: number): number => {
  const at = lines.slice(from, from + 8).findIndex((line) => !isEmpty(line));
  return at === -1 ? lines.length : from + at;
};

export const paragraphEnd = (lines: readonly TextLine[], from: number): number => {
  let at = from;
  for (let line = lines[at]; line !== undefined && !isEmpty(line); line = lines[at]) at += 1;
  return at;
};

/** The beginning of a paragraph. */
export function nearParagraph(lines: readonly TextLine[], from: number): readonly TextLine[] {
  const near = lines.slice(from, from + NEAR_LINES);
  const end = near.findIndex(isEmpty);
  return end === -1 ? near : near.slice(0, end);
}
