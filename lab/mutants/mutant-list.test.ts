import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { breakText, readMutants } from './mutant-list.ts';

const root = new URL('../../', import.meta.url);

test.each(readMutants())('the mutant $name breaks code, and names a test', (mutant) => {
  const text = readFileSync(new URL(mutant.file, root), 'utf8');

  expect(breakText(text, mutant)).not.toBe(text);
  expect(existsSync(new URL(mutant.test, root))).toBe(true);
});

test('a mutant is refused whose lines stand nowhere, or at two places', () => {
  const mutant = { name: 'm', breaks: 'It.', test: 't', file: 'f' };
  const edits = [{ before: 'b\n', after: 'c\n' }];

  expect(breakText('a\nb\n', { ...mutant, edits })).toBe('a\nc\n');
  for (const text of ['a\n', 'b\nb2\nb\n', 'a b\n'])
    expect(() => breakText(text, { ...mutant, edits })).toThrow('m: f has');
});
