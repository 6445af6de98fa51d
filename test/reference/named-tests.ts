import { readFile } from 'node:fs/promises';

const root = new URL('../../', import.meta.url);

/** A file of the repository as text. */
export const readText = (path: string) => readFile(new URL(path, root), 'utf8');

interface NamedTest {
  file: string;
  title: string;
}

/** The tests that a document names: a file in code, a colon, titles in quotation marks. */
export function namedTests(document: string): NamedTest[] {
  const proofs = document.matchAll(/`((?:test|lab)\/[^`]+\.ts)`: (“[^”]+”(?:, “[^”]+”)*)/gu);
  return [...proofs].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/“([^”]+)”/gu)].map(([, title = '']) => ({ file, title })),
  );
}

/** What stands as the title of a test: behind `test(`, `test.each(…)(` and their like. */
export function titlesIn(source: string): Set<string> {
  const title = /(?:\btest(?:\.\w+)*\(|\)\()\s*'((?:[^'\\]|\\.)*)'/gu;
  return new Set([...source.matchAll(title)].map(([, text = '']) => text));
}

/** The tests that do not exist under their title. */
export async function missingTests(named: readonly NamedTest[]): Promise<NamedTest[]> {
  const files = [...new Set(named.map(({ file }) => file))];
  const sources = await Promise.all(files.map((file) => readText(file).catch(() => '')));
  const titles = new Map(files.map((file, index) => [file, titlesIn(sources[index] ?? '')]));
  return named.filter(({ file, title }) => titles.get(file)?.has(title) !== true);
}

/** What a document proves, one a line: the entries of its lists that begin in bold, and the rows of its tables. */
export const entriesIn = (document: string): string[] =>
  document.split('\n').filter((line, index, lines) => {
    const isHeading = lines[index + 1]?.startsWith('| ---') === true;
    return /^- \*\*|^\| (?!---)/u.test(line) && !isHeading;
  });

const entryStart = /^- \*\*([SD]?\d+) /u;

/** The list entries of a document that begin with a number in bold, such as `S15`. */
export const numberedEntries = (document: string): string[] =>
  document.split('\n').filter((line) => entryStart.test(line));

/** The number that an entry begins with. */
export const readNumber = (entry: string): string => entryStart.exec(entry)?.[1] ?? entry;
