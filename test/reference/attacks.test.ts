import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { missingTests, namedTests, readText, rowsOf } from './named-tests.ts';

const attacks = Array.from({ length: 22 }, (_, index) => `S${index + 1}`);
const contracts = Array.from({ length: 12 }, (_, index) => String(index + 1));
const numberOf = (row: string) => /^\| (S?\d+) /u.exec(row)?.[1] ?? row;
const readRows = async () => rowsOf(await readText('docs/attacks.md'), 'Number');

test('every test that docs/attacks.md names exists under that title', async () => {
  const named = namedTests(await readText('docs/attacks.md'));

  expect(named.length).toBeGreaterThan(60);
  expect(await missingTests(named)).toEqual([]);
});

test('docs/attacks.md has a row for each attack and each contract; each names a test, each attack its count', async () => {
  const rows = await readRows();

  expect(rows.map(numberOf)).toEqual([...attacks, ...contracts]);
  expect(rows.filter((row) => namedTests(row).length === 0)).toEqual([]);
  const counted = rows.slice(0, attacks.length).map((row) => row.split('|').at(-2) ?? '');
  expect(counted.filter((count) => !/\d|every/u.test(count))).toEqual([]);
});

test('every file whose tests carry a number stands in the row of that number', async () => {
  const rows = await readRows();
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
