import { headOf } from '../text-cut.ts';

/** Words that begin a block worth keeping. A heuristic: other languages' words are not known. */
const telling = /error|warning|exception|traceback|fatal|panic|failed/i;
const continuation = /^\s+\S|^\s*at\s|^Caused by/;

/** Lines longer than this are looked at, and kept, up to here only. */
const LINE_CHARACTERS = 2_000;

/**
 * The error and warning blocks of a text: each line with a telling word and the indented lines that
 * follow it (stack traces), whole, in order, as long as all fit into `maxCharacters`. Equal blocks once.
 */
export function errorBlocksOf(text: string, maxCharacters: number): string {
  const kept: string[] = [];
  const seen = new Set<string>();
  let room = maxCharacters;
  let block: string[] = [];
  const close = (): void => {
    const whole = block.join('\n');
    block = [];
    if (whole === '' || whole.length + 1 > room || seen.has(whole)) return;
    seen.add(whole);
    kept.push(whole);
    room -= whole.length + 1;
  };
  for (const rawLine of text.split('\n')) {
    const line = headOf(rawLine, LINE_CHARACTERS);
    if (block.length > 0 && continuation.test(line)) {
      block.push(line);
      continue;
    }
    close();
    if (telling.test(line)) block.push(line);
  }
  close();
  return kept.join('\n');
}
