import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  missingTests,
  namedTests,
  numberedEntries,
  readNumber,
  readText,
  titlesIn,
} from './named-tests.ts';

const numbers = Array.from({ length: 22 }, (_, index) => `D${index + 1}`);
const readEntries = async () => numberedEntries(await readText('docs/defects.md'));

test('every test that docs/defects.md names exists under that title', async () => {
  const named = namedTests(await readText('docs/defects.md'));

  expect(named.length).toBeGreaterThan(40);
  expect(await missingTests(named)).toEqual([]);
});

test('docs/defects.md has an entry for each defect, and each names a test', async () => {
  const entries = await readEntries();

  expect(entries.map(readNumber)).toEqual(numbers);
  expect(entries.filter((entry) => namedTests(entry).length === 0)).toEqual([]);
});

test('every test in test/defects stands in the entry of its number', async () => {
  const entries = await readEntries();
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
