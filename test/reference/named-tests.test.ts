import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  entriesIn,
  missingTests,
  namedTests,
  numberedEntries,
  readNumber,
  readText,
  titlesIn,
} from './named-tests.ts';

const documents = [
  { path: 'docs/attacks.md', entries: 34, tests: 60, read: numberedEntries },
  { path: 'docs/defects.md', entries: 22, tests: 40, read: numberedEntries },
  { path: 'docs/faults.md', entries: 50, tests: 100, read: entriesIn },
  { path: 'docs/reference/bounds.md', entries: 15, tests: 15, read: entriesIn },
];

test.each(documents)(
  'every test that $path names exists under that title',
  async ({ path, tests }) => {
    const named = namedTests(await readText(path));

    expect(named.length).toBeGreaterThan(tests);
    expect(await missingTests(named)).toEqual([]);
  },
);

test.each(documents)('every entry of $path names a test', async ({ path, entries, read }) => {
  const found = read(await readText(path));

  expect(found.length).toBeGreaterThanOrEqual(entries);
  expect(found.filter((entry) => namedTests(entry).length === 0)).toEqual([]);
});

const range = (count: number, prefix = '') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
const readEntries = async (path: string) => numberedEntries(await readText(path));

test('docs/defects.md has an entry for each defect', async () => {
  expect((await readEntries('docs/defects.md')).map(readNumber)).toEqual(range(22, 'D'));
});

test('every test in test/defects is named in the entry of its number', async () => {
  const entries = await readEntries('docs/defects.md');
  const files = await readdir(new URL('../defects/', import.meta.url));

  const titles = await Promise.all(
    files.map(async (file) => [...titlesIn(await readText(`test/defects/${file}`))]),
  );

  const numbered = titles.flat().filter((title) => /^D\d+: /u.test(title));
  const lost = numbered.filter((title) => {
    const entry = entries.find((each) => title.startsWith(`${readNumber(each)}: `)) ?? '';
    return !namedTests(entry).some((named) => named.title === title);
  });
  expect(numbered.length).toBeGreaterThan(30);
  expect(lost).toEqual([]);
});

test('docs/attacks.md has an entry for each attack, with its count, and for each contract', async () => {
  const attacks = range(22, 'S');
  const entries = await readEntries('docs/attacks.md');

  expect(entries.map(readNumber)).toEqual([...attacks, ...range(12)]);
  const counted = entries
    .slice(0, attacks.length)
    .map((entry) => entry.split('. Count: ')[1] ?? '');
  expect(counted.filter((count) => !/\d|every/u.test(count))).toEqual([]);
});

test('every test file with a numbered attack or contract is named in the entry of that number', async () => {
  const entries = await readEntries('docs/attacks.md');
  const files = await readdir(new URL('../', import.meta.url), { recursive: true });
  const sources = files.filter((file) => file.endsWith('.test.ts'));

  const numbered = await Promise.all(
    sources.map(async (file) => {
      const title = /'((?:(?:S\d+|contract \d+)(?:, )?)+): /gu;
      const prefixes = [...(await readText(`test/${file}`)).matchAll(title)];
      const numbers = prefixes.flatMap(([, prefix = '']) => prefix.split(', '));
      return [...new Set(numbers)].map((number) => ({ file: `test/${file}`, number }));
    }),
  );

  const lost = numbered.flat().filter(({ file, number }) => {
    const entry =
      entries.find((each) => readNumber(each) === number.replace('contract ', '')) ?? '';
    return !entry.includes(`\`${file}\``);
  });
  expect(numbered.flat().length).toBeGreaterThan(25);
  expect(lost).toEqual([]);
});
