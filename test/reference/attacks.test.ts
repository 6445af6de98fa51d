import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { missingTests, namedTests, numberedEntries, readNumber, readText } from './named-tests.ts';

const attacks = Array.from({ length: 22 }, (_, index) => `S${index + 1}`);
const contracts = Array.from({ length: 12 }, (_, index) => String(index + 1));
const readEntries = async () => numberedEntries(await readText('docs/attacks.md'));

test('every test that docs/attacks.md names exists under that title', async () => {
  const named = namedTests(await readText('docs/attacks.md'));

  expect(named.length).toBeGreaterThan(60);
  expect(await missingTests(named)).toEqual([]);
});

test('docs/attacks.md has an entry for each attack and each contract; each names a test, each attack its count', async () => {
  const entries = await readEntries();

  expect(entries.map(readNumber)).toEqual([...attacks, ...contracts]);
  expect(entries.filter((entry) => namedTests(entry).length === 0)).toEqual([]);
  const counted = entries
    .slice(0, attacks.length)
    .map((entry) => entry.split('. Count: ')[1] ?? '');
  expect(counted.filter((count) => !/\d|every/u.test(count))).toEqual([]);
});

test('every file whose tests carry a number stands in the entry of that number', async () => {
  const entries = await readEntries();
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
