import { expect, test } from 'vitest';
import { isRepetitive } from '#shared/compaction/repetition.ts';

const paths = Array.from(
  { length: 40 },
  (_, index) =>
    `/srv/projects/customers/international/web/src/components/page${'x'.repeat(index)}.tsx was read`,
);

test.each([
  ['a line six times', 'The same line again.\n'.repeat(6), true],
  ['a line five times', 'The same line again.\n'.repeat(5), false],
  ['a short line many times', '- DONE\n'.repeat(6), false],
  [
    'a sentence in a loop without line ends',
    'and then the user asked for more of the same thing '.repeat(12),
    true,
  ],
  ['a list of long paths', paths.join('\n'), false],
  [
    'a list of invoices',
    Array.from(
      { length: 30 },
      (_, i) =>
        `- Invoice INV-${20_000 + i} was paid by bank transfer to the account of the customer.`,
    ).join('\n'),
    false,
  ],
  ['a ruler', '-'.repeat(200), false],
  [
    'the same path far apart ten times',
    Array.from(
      { length: 10 },
      (_, index) =>
        `/Users/somebody/Projects/application/.venv/bin/command ${Array.from({ length: 40 }, (_word, word) => word * (index + 7)).join(' ')}`,
    ).join('\n'),
    false,
  ],
  ['nothing', '', false],
])('a text repeats in a loop: %s: %s', (_, text, repetitive) => {
  expect(isRepetitive(text)).toBe(repetitive);
});
