import { expect, test } from 'vitest';
import { missingTests, namedTests, readText, rowsOf } from './named-tests.ts';

test('every test that docs/faults.md names exists under that title', async () => {
  const named = namedTests(await readText('docs/faults.md'));

  expect(named.length).toBeGreaterThan(100);
  expect(await missingTests(named)).toEqual([]);
});

test('every row of docs/faults.md names a test', async () => {
  const rows = rowsOf(await readText('docs/faults.md'), 'Fault');

  expect(rows.length).toBeGreaterThan(50);
  expect(rows.filter((row) => namedTests(row).length === 0)).toEqual([]);
});
