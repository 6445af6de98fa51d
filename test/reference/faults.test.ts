import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const readText = (path: string) => readFile(new URL(path, root), 'utf8');

interface NamedTest {
  file: string;
  title: string;
}

/** The tests that the document names: a file in code, a colon, titles in quotation marks. */
function namedTests(document: string): NamedTest[] {
  const proofs = document.matchAll(/`(test\/[^`]+\.ts)`: (“[^”]+”(?:, “[^”]+”)*)/gu);
  return [...proofs].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/“([^”]+)”/gu)].map(([, title = '']) => ({ file, title })),
  );
}

/** What stands as the title of a test: behind `test(`, `test.each(…)(` and their like. */
function titlesIn(source: string): Set<string> {
  const title = /(?:\btest(?:\.\w+)*\(|\)\()\s*'((?:[^'\\]|\\.)*)'/gu;
  return new Set([...source.matchAll(title)].map(([, text = '']) => text));
}

const rowsOf = (document: string) =>
  document.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:Fault|---)/u.test(line));

test('every test that docs/faults.md names exists under that title', async () => {
  const named = namedTests(await readText('docs/faults.md'));
  const files = [...new Set(named.map(({ file }) => file))];
  const sources = await Promise.all(files.map((file) => readText(file).catch(() => '')));
  const titles = new Map(files.map((file, index) => [file, titlesIn(sources[index] ?? '')]));

  const missing = named.filter(({ file, title }) => titles.get(file)?.has(title) !== true);

  expect(named.length).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});

test('every row of docs/faults.md names a test', async () => {
  const rows = rowsOf(await readText('docs/faults.md'));

  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((row) => namedTests(row).length === 0)).toEqual([]);
});
