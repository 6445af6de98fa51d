import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const readText = (path: string) => readFile(new URL(path, root), 'utf8');

/** The tests that a document names: a file in code, a colon, titles in quotation marks. */
function namedTests(document: string): { file: string; title: string }[] {
  const proofs = document.matchAll(/`((?:test|lab)\/[^`]+\.ts)`: (“[^”]+”(?:, “[^”]+”)*)/gu);
  return [...proofs].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/“([^”]+)”/gu)].map(([, title = '']) => ({ file, title })),
  );
}

/** The files of tests that a document names. */
const namedFiles = (document: string) =>
  [...document.matchAll(/`((?:test|lab)\/[^`]+\.ts)`/gu)].map(([, file = '']) => file);

/** The attacks, defects and contracts whose numbers begin titles of a file. */
const numbersIn = (source: string): string[] =>
  [...source.matchAll(/'((?:(?:S\d+|D\d+|contract \d+)(?:, )?)+): /gu)].flatMap(([, all = '']) =>
    all.replaceAll('contract ', '').split(', '),
  );

/** What stands as the title of a test: behind `test(`, `test.each(…)(` and their like. */
function titlesIn(source: string): Set<string> {
  const title = /(?:\btest(?:\.\w+)*\(|\)\()\s*'((?:[^'\\]|\\.)*)'/gu;
  return new Set([...source.matchAll(title)].map(([, text = '']) => text));
}

/** What a document proves, one a line: the entries of its lists that begin in bold, and the rows of its tables. */
const entriesIn = (document: string): string[] =>
  document.split('\n').filter((line, index, lines) => {
    const isHeading = lines[index + 1]?.startsWith('| ---') === true;
    return /^- \*\*|^\| (?!---)/u.test(line) && !isHeading;
  });

/** List entries that begin with a number in bold, such as `S15`, by that number. */
const numberedEntries = (document: string) =>
  new Map(
    document.split('\n').flatMap((line) => {
      const number = /^- \*\*([SD]?\d+) /u.exec(line)?.[1];
      return number === undefined ? [] : [[number, line] as const];
    }),
  );

const range = (count: number, prefix = '') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);

test.each([
  ['docs/reference/attacks.md', [...range(23, 'S'), ...range(12)]],
  ['docs/reference/defects.md', range(22, 'D')],
])('%s has an entry for each number, and each names a test', async (path, numbers) => {
  const entries = numberedEntries(await readText(path));
  const unproven = [];
  for (const [number, entry] of entries) {
    const sources = await Promise.all(namedFiles(entry).map((file) => readText(file)));
    const isNumbered = sources.some((source) => numbersIn(source).includes(number));
    if (!isNumbered && namedTests(entry).length === 0) unproven.push(number);
  }

  expect([...entries.keys()]).toEqual(numbers);
  expect(unproven).toEqual([]);
});

test.each([
  ['docs/reference/attacks.md', 10],
  ['docs/reference/defects.md', 3],
  ['docs/reference/faults.md', 45],
  ['docs/reference/bounds.md', 15],
])('every test that %s names exists under that title', async (path, least) => {
  const named = namedTests(await readText(path));
  const missing = [];
  for (const { file, title } of named)
    if (!titlesIn(await readText(file).catch(() => '')).has(title)) missing.push({ file, title });

  expect(named.length).toBeGreaterThan(least);
  expect(missing).toEqual([]);
});

test.each(['docs/reference/faults.md', 'docs/reference/bounds.md'])(
  'every entry of %s names a test',
  async (path) => {
    const entries = entriesIn(await readText(path));

    expect(entries.filter((entry) => namedTests(entry).length === 0)).toEqual([]);
  },
);

test('every test file with a numbered attack, contract or defect is named in the entry of that number', async () => {
  const entries = new Map([
    ...numberedEntries(await readText('docs/reference/attacks.md')),
    ...numberedEntries(await readText('docs/reference/defects.md')),
  ]);

  const lost = [];
  for (const file of globSync('test/**/*.test.ts', { cwd: root })) {
    for (const number of new Set(numbersIn(await readText(file))))
      if (entries.get(number)?.includes(`\`${file}\``) !== true) lost.push({ file, number });
  }

  expect(lost).toEqual([]);
});
