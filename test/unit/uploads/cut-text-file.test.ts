import { cutTextFile } from '#shared/uploads/upload-parts.ts';
import { describe, expect, test } from 'vitest';

const lines = (count: number, text = 'a line') => Array.from({ length: count }, () => text);

describe('a text file for a model', () => {
  test.each([
    ['an empty file', ''],
    ['2,000 lines with a break at the end', `${lines(2_000).join('\n')}\n`],
    ['a line of 2,000 characters', 'x'.repeat(2_000)],
  ])('a text file for a model is unchanged: %s', (_, text) => {
    expect(cutTextFile(text).trimEnd()).toBe(text.trimEnd());
  });

  test('a text file for a model loses lines behind the 2,000th and says so', () => {
    const cut = cutTextFile(lines(4_345).join('\n')).split('\n');

    expect(cut).toHaveLength(2_001);
    expect(cut.at(-1)).toBe(
      '[2,345 of 4,345 lines are missing here: the file is cut after line 2,000]',
    );
  });

  test('a text file for a model loses the end of a long line and says so', () => {
    const cut = cutTextFile(`short\n${'x'.repeat(5_000)}\nafter`);

    expect(cut).toBe(
      `short\n${'x'.repeat(2_000)} [3,000 of 5,000 characters of this line are missing]\nafter`,
    );
  });

  test('a text file for a model never has a cut grapheme', () => {
    const family = '👨‍👩‍👧‍👦';
    const cut = cutTextFile(`${'x'.repeat(1_995)}${family}${'y'.repeat(100)}`);

    expect(cut).toMatch(/^x{1995} \[111 of 2,106 characters/);
  });

  test('a text file for a model has at most 200,000 characters and names omitted lines', () => {
    const cut = cutTextFile(lines(1_500, 'z'.repeat(999)).join('\n'));

    expect(cut.length).toBeLessThan(200_200);
    expect(cut).toContain(
      '[1,300 of 1,500 lines are missing here: the file is cut after line 200]',
    );
  });
});
