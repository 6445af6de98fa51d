import { cutHead, cutTail } from '#shared/text/cut.ts';

/** Words that begin a block worth keeping, in English, Japanese, Chinese and Korean. A heuristic: others are not known. */
const tellingWords =
  'error|warning|exception|traceback|fatal|panic|failed|エラー|警告|失敗|失败|错误|錯誤|異常|异常|例外|致命|오류|에러|경고|실패|예외';
const telling = new RegExp(tellingWords, 'iu');
const everyTelling = new RegExp(tellingWords, 'giu');
const continuation = /^\s+\S|^\s*at\s|^Caused by/;

/** Longer lines (JSON, minified logs) are kept in stretches of this length around their telling words. */
const LINE_CHARACTERS = 2_000;
/** What such a stretch begins with before its first telling word. */
const BEFORE_CHARACTERS = 500;
/** What follows a telling word in the same stretch, else it begins another one. */
const MESSAGE_CHARACTERS = 200;
/** What is looked at on the other side of an edge, so that none lies inside of a character. */
const EDGE_CHARACTERS = 256;

/** Whether a line tells of an error or a warning. */
export const tellsOfError = (line: string): boolean => telling.test(line);

/** The stretches of a long line, from `from` on, that have a telling word: one after the other, in order. */
function* tellingStretches(line: string, from: number): Generator<string> {
  let end = from;
  for (const { index } of line.matchAll(everyTelling)) {
    if (index + MESSAGE_CHARACTERS <= end) continue;
    const start = Math.min(index, Math.max(end, index - BEFORE_CHARACTERS));
    const before = cutTail(line.slice(Math.max(0, start - EDGE_CHARACTERS), index), index - start);
    end = start + LINE_CHARACTERS;
    yield before + cutHead(line.slice(index, end + EDGE_CHARACTERS), end - index);
  }
}

/**
 * The error and warning blocks of a text: each line with a telling word and the indented lines that
 * follow it (stack traces), whole, in order; of lines over 2,000 characters what stands around their telling words.
 * Equal blocks once. Linear in the text.
 */
export function findErrorBlocks(text: string): string[] {
  const found = new Set<string>();
  let block: string[] = [];
  const close = (): void => {
    if (block.length > 0) found.add(block.join('\n'));
    block = [];
  };
  for (const rawLine of text.split('\n')) {
    const line = cutHead(rawLine, LINE_CHARACTERS);
    const isLong = line.length < rawLine.length;
    const goesOn = block.length > 0 && continuation.test(line);
    if (!goesOn) close();
    if (goesOn || (!isLong && tellsOfError(line))) block.push(line);
    if (!isLong) continue;
    for (const stretch of tellingStretches(rawLine, goesOn ? line.length : 0)) {
      close();
      block.push(stretch);
    }
  }
  close();
  return [...found];
}

/** Those of `findErrorBlocks` that fit into `maxCharacters` together, the first ones first. */
export function collectErrorBlocks(text: string, maxCharacters: number): string {
  let room = maxCharacters;
  return findErrorBlocks(text)
    .filter((block) => {
      if (block.length + 1 > room) return false;
      room -= block.length + 1;
      return true;
    })
    .join('\n');
}
