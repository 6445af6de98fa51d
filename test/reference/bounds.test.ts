import { expect, test } from 'vitest';
import { missingTests, namedTests, readText, rowsOf } from './named-tests.ts';

const PATH = 'docs/reference/bounds.md';

test('every test that the list of bounds names exists under that title', async () => {
  const named = namedTests(await readText(PATH));

  expect(named.length).toBeGreaterThan(15);
  expect(await missingTests(named)).toEqual([]);
});

test('everything that is held names a test', async () => {
  const rows = rowsOf(await readText(PATH), 'What is held');

  expect(rows.length).toBeGreaterThan(15);
  expect(rows.filter((row) => namedTests(row).length === 0)).toEqual([]);
});
