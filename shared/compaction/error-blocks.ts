import { headOf } from '../text-cut.ts';

/** Words that begin a block worth keeping. A heuristic: other languages' words are not known. */
const telling = /error|warning|exception|traceback|fatal|panic|failed/i;
const continuation = /^\s+\S|^\s*at\s|^Caused by/;

/** Lines longer than this are looked at, and kept, up to here only. */
const LINE_CHARACTERS = 2_000;

/** Whether a line tells of an error or a warning. */
export const tellsOfError = (line: string): boolean => telling.test(line);

/**
 * The error and warning blocks of a text: each line with a telling word and the indented lines that
 * follow it (stack traces), whole, in order. Equal blocks once.
 */
export function findErrorBlocks(text: string): string[] {
  const found = new Set<string>();
  let block: string[] = [];
  const close = (): void => {
    if (block.length > 0) found.add(block.join('\n'));
    block = [];
  };
  for (const rawLine of text.split('\n')) {
    const line = headOf(rawLine, LINE_CHARACTERS);
    if (block.length > 0 && continuation.test(line)) {
      block.push(line);
      continue;
    }
    close();
    if (tellsOfError(line)) block.push(line);
  }
  close();
  return [...found];
}

/** Those of `findErrorBlocks` that fit into `maxCharacters` together, the first ones first. */
export function errorBlocksOf(text: string, maxCharacters: number): string {
  let room = maxCharacters;
  return findErrorBlocks(text)
    .filter((block) => {
      if (block.length + 1 > room) return false;
      room -= block.length + 1;
      return true;
    })
    .join('\n');
}
