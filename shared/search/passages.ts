import { cutHead } from '#shared/text/cut.ts';

/** UTF-16 units of a passage: a long answer tells of many things, and a search ranks each by itself. */
const PASSAGE_CHARACTERS = 500;
/** A text of up to this many stays whole. */
const WHOLE_CHARACTERS = 800;

const sentenceEnds = /[.!?…]["'”’»)\]*_]{0,3}\s|[。！？｡]/gu;

/** The end of the last paragraph, else line, else sentence, else word in the second half of a stretch. */
function lastBreak(stretch: string): number {
  const half = stretch.length / 2;
  for (const mark of ['\n\n', '\n']) {
    const at = stretch.lastIndexOf(mark);
    if (at >= half) return at + mark.length;
  }
  let end = 0;
  for (const { 0: mark, index } of stretch.matchAll(sentenceEnds)) end = index + mark.length;
  if (end >= half) return end;
  const blank = stretch.lastIndexOf(' ');
  return blank >= half ? blank + 1 : stretch.length;
}

/**
 * Cuts a text longer than `whole` UTF-16 units into parts of at most `most` and a rest, behind a sentence or a word where
 * there is one. Joined they are the text. Linear; cuts no grapheme.
 */
export function splitAtBreaks(text: string, most: number, whole: number): string[] {
  const parts: string[] = [];
  let start = 0;
  while (text.length - start > whole) {
    const stretch = cutHead(text.slice(start, start + whole), most);
    const length = stretch === '' ? most : lastBreak(stretch);
    parts.push(text.slice(start, start + length));
    start += length;
  }
  return [...parts, text.slice(start)];
}

/** The parts of a text that are ranked each by itself. */
export const splitPassages = (text: string): string[] =>
  splitAtBreaks(text, PASSAGE_CHARACTERS, WHOLE_CHARACTERS);
