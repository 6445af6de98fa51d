import { cutHead } from '#shared/text/cut.ts';
import { TEXT_FILE_CHARACTERS, TEXT_FILE_LINE_CHARACTERS, TEXT_FILE_LINES } from './limits.ts';

const number = (value: number) => value.toLocaleString('en');

function cutLine(line: string): string {
  if (line.length <= TEXT_FILE_LINE_CHARACTERS) return line;
  const kept = cutHead(line, TEXT_FILE_LINE_CHARACTERS);
  return `${kept} [${number(line.length - kept.length)} of ${number(line.length)} characters of this line are missing]`;
}

/** As many of the lines as have `maxCharacters` in all. */
function fitting(lines: readonly string[], maxCharacters: number): string[] {
  let left = maxCharacters;
  const end = lines.findIndex((line) => (left -= line.length + 1) < 0);
  return end === -1 ? [...lines] : lines.slice(0, end);
}

/**
 * A text file as a model is told of it: 2,000 lines of 2,000 characters at most, 200,000 characters in all, and
 * a marker wherever something is missing that says how much of what. Never cuts a grapheme. Short → unchanged.
 */
export function cutTextFile(text: string): string {
  const lines = text.split('\n');
  // A line break at the end ends the last line and begins none.
  const total = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  const cut = lines.slice(0, TEXT_FILE_LINES).map(cutLine);
  const kept = fitting(cut, TEXT_FILE_CHARACTERS);
  const missing = total - kept.length;
  if (missing <= 0) return kept.join('\n');
  return [
    ...kept,
    `[${number(missing)} of ${number(total)} lines are missing here: the file is cut after line ${number(kept.length)}]`,
  ].join('\n');
}
