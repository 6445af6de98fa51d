import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const literal = /"((?:[^"\\\n]|\\.)*)"/gu;

const strings = (block: string): string[] =>
  [...block.matchAll(literal)].map(([, text]) => String(JSON.parse(`"${text}"`)));

function blockAfter(source: string, pattern: RegExp): string {
  const block = pattern.exec(source)?.[1];
  if (block === undefined) throw new Error(`no ${pattern.source} in the source of CompactBench`);
  return block;
}

/** The strings of a constant in parentheses: a tuple's members, or the pieces of one text. */
export const constantStrings = (source: string, name: string): string[] =>
  strings(blockAfter(source, new RegExp(`^${name}\\b[^=\\n]*= \\(\\n([^]*?)^\\)`, 'mu')));

/** The text that a function returns in parentheses, with its `{placeholders}`. */
export const returnedText = (source: string, name: string): string =>
  strings(
    blockAfter(source, new RegExp(`^def ${name}\\([^]*?return \\(\\n([^]*?)^ {4}\\)`, 'mu')),
  ).join('');

export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{([\w.]+)\}/gu, (whole, name: string) => values[name] ?? whole);

/** Reads a Python module of a checkout of CompactBench, by its path in the package. */
export const readSource = (checkout: string, path: string): Promise<string> =>
  readFile(join(checkout, 'src/compactbench', path), 'utf8');
