import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { missingTests, namedTests, readText, rowsOf, titlesIn } from './named-tests.ts';

const documents: [path: string, heading: string, rows: number, tests: number][] = [
  ['docs/attacks.md', 'Number', 34, 60],
  ['docs/defects.md', 'Number', 22, 40],
  ['docs/faults.md', 'Fault', 50, 100],
  ['docs/reference/bounds.md', 'What is held', 15, 15],
];

test.each(documents)('every test that %s names exists under that title', async (path, ...rest) => {
  const named = namedTests(await readText(path));

  expect(named.length).toBeGreaterThan(rest[2]);
  expect(await missingTests(named)).toEqual([]);
});

test.each(documents)('every row of %s names a test', async (path, heading, count) => {
  const rows = rowsOf(await readText(path), heading);

  expect(rows.length).toBeGreaterThanOrEqual(count);
  expect(rows.filter((row) => namedTests(row).length === 0)).toEqual([]);
});

const numberOf = (row: string) => /^\| ([SD]?\d+) /u.exec(row)?.[1] ?? row;
const range = (count: number, prefix = '') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
const numberedRows = async (path: string) => rowsOf(await readText(path), 'Number');

test('docs/defects.md has a row for each defect', async () => {
  expect((await numberedRows('docs/defects.md')).map(numberOf)).toEqual(range(22, 'D'));
});

test('every test in test/defects is named in the row of its number', async () => {
  const rows = await numberedRows('docs/defects.md');
  const files = await readdir(new URL('../defects/', import.meta.url));

  const titles = await Promise.all(
    files.map(async (file) => [...titlesIn(await readText(`test/defects/${file}`))]),
  );

  const numbered = titles.flat().filter((title) => /^D\d+: /u.test(title));
  const lost = numbered.filter((title) => {
    const row = rows.find((each) => title.startsWith(`${numberOf(each)}: `)) ?? '';
    return !namedTests(row).some((named) => named.title === title);
  });
  expect(numbered.length).toBeGreaterThan(30);
  expect(lost).toEqual([]);
});

test('docs/attacks.md has a row for each attack, with its count, and for each contract', async () => {
  const attacks = range(22, 'S');
  const rows = await numberedRows('docs/attacks.md');

  expect(rows.map(numberOf)).toEqual([...attacks, ...range(12)]);
  const counted = rows.slice(0, attacks.length).map((row) => row.split('|').at(-2) ?? '');
  expect(counted.filter((count) => !/\d|every/u.test(count))).toEqual([]);
});

test('every test file with a numbered attack or contract is named in the row of that number', async () => {
  const rows = await numberedRows('docs/attacks.md');
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
    const row = rows.find((each) => numberOf(each) === number.replace('contract ', '')) ?? '';
    return !row.includes(`\`${file}\``);
  });
  expect(numbered.flat().length).toBeGreaterThan(25);
  expect(lost).toEqual([]);
});
