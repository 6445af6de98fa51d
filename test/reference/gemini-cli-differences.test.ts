import { expect, test } from 'vitest';
import { readText, titlesIn } from './named-tests.ts';

const section = /## The profile `gemini-cli`\n([\s\S]*?)\n## /u;

test('each documented difference between the gemini-cli profile and Gemini CLI is a test, and vice versa', async () => {
  const guide = await readText('docs/guides/operating-compaction.md');
  const source = await readText('test/usecases/compaction/summary/gemini-cli-differences.test.ts');

  const rows = (section.exec(guide)?.[1] ?? '').split('\n').filter((line) => line.startsWith('| '));
  const told = rows.slice(2).map((row) => row.split('|')[1]?.trim());

  expect(told.length).toBeGreaterThan(10);
  expect(told).toEqual([...titlesIn(source)]);
});
