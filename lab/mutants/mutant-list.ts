import { readFileSync } from 'node:fs';

/** One way to break the product. */
export interface Mutant {
  name: string;
  /** What is broken, as one sentence about the product. */
  breaks: string;
  /** The test file that finds it, from the root of the repository. */
  test: string;
  /** The file that is changed, from the root of the repository. */
  file: string;
  /** Whole lines as they stand in the file, and what takes their place. */
  edits: readonly { before: string; after: string }[];
}

/** Lines of a diff: ` ` stays, `-` goes, `+` comes. */
const sideOf = (lines: readonly string[], sign: '-' | '+'): string =>
  lines
    .filter((line) => line.startsWith(' ') || line.startsWith(sign))
    .map((line) => `${line.slice(1)}\n`)
    .join('');

function parseMutant(block: string): Mutant {
  const [title = '', test = '', file = '', ...diff] = block.trimEnd().split('\n');
  const [, name = '', breaks = ''] = /^([\w-]+): (.+)$/u.exec(title) ?? [];
  const edits = diff
    .join('\n')
    .split('\n@@\n')
    .map((hunk) => hunk.split('\n'))
    .map((lines) => ({ before: sideOf(lines, '-'), after: sideOf(lines, '+') }));
  return { name, breaks, test, file, edits };
}

/**
 * The mutants of `mutants.txt`. Between two of them stands an empty line. Each has a line `name: what is broken`, one with its test,
 * one with the file that is changed, and the lines that go and come; `@@` stands between two places.
 */
export const readMutants = (): Mutant[] =>
  readFileSync(new URL('mutants.txt', import.meta.url), 'utf8')
    .split('\n\n')
    .map(parseMutant);

/** A file with the break in it. Throws Error unless what is changed stands there exactly once. */
export function breakText(text: string, { name, file, edits }: Mutant): string {
  let broken = `\n${text}`;
  for (const { before, after } of edits) {
    const parts = broken.split(`\n${before}`);
    if (before === '' || parts.length !== 2)
      throw new Error(`${name}: ${file} has ${parts.length - 1} times the lines\n${before}`);
    broken = parts.join(`\n${after}`);
  }
  return broken.slice(1);
}
