import { expect, test } from 'vitest';
import { missingTests, namedTests, readText } from './named-tests.ts';

test('every test that docs/faults.md names exists under that title', async () => {
  const named = namedTests(await readText('docs/faults.md'));

  expect(named.length).toBeGreaterThan(100);
  expect(await missingTests(named)).toEqual([]);
});

test('every entry of docs/faults.md names a test', async () => {
  const entries = (await readText('docs/faults.md'))
    .split('\n')
    .filter((line) => line.startsWith('- **'));

  expect(entries.length).toBeGreaterThan(50);
  expect(entries.filter((entry) => namedTests(entry).length === 0)).toEqual([]);
});
