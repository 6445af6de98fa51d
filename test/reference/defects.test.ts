import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { missingTests, namedTests, readText, rowsOf, titlesIn } from './named-tests.ts';

const numbers = Array.from({ length: 22 }, (_, index) => `D${index + 1}`);
const numberOf = (row: string) => /^\| (D\d+) /u.exec(row)?.[1] ?? row;
const readRows = async () => rowsOf(await readText('docs/defects.md'), 'Number');

test('every test that docs/defects.md names exists under that title', async () => {
  const named = namedTests(await readText('docs/defects.md'));

  expect(named.length).toBeGreaterThan(40);
  expect(await missingTests(named)).toEqual([]);
});

test('docs/defects.md has a row for each defect, and each names a test', async () => {
  const rows = await readRows();

  expect(rows.map(numberOf)).toEqual(numbers);
  expect(rows.filter((row) => namedTests(row).length === 0)).toEqual([]);
});

test('every test in test/defects stands in the row of its number', async () => {
  const rows = await readRows();
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
