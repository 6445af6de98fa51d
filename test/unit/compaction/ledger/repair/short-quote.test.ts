import { describe, expect, test } from 'vitest';
import { shortQuote } from '#shared/compaction/ledger/repair/short-quote.ts';

describe('a short quote', () => {
  const sentence =
    'We talked about the weather for a while, then I booked the hotel under QX-7719 for us, and after that the children wanted to swim';

  test('a short quote is the clause that states the fact', () => {
    expect(shortQuote(sentence, 'QX-7719', 100)).toBe(
      'then I booked the hotel under QX-7719 for us',
    );
  });

  test('a short quote is a short sentence as a whole', () => {
    expect(shortQuote('Booked, as QX-7719, today', 'QX-7719', 100)).toBe(
      'Booked, as QX-7719, today',
    );
  });

  test('a short quote has the words around the fact where its clause is a fragment', () => {
    const scrap = `${'word '.repeat(30)}, QX-7719, ${'more '.repeat(30)}`;

    const quote = shortQuote(scrap, 'QX-7719', 60) ?? '';
    expect(quote).toMatch(/word , QX-7719, more/);
    expect(quote.length).toBeLessThanOrEqual(62);
  });

  test('a short quote has fewer characters where each carries more', () => {
    const text =
      '我们昨天在外面逛了很久，白魁老号饭庄的附近有什么好吃的餐馆，孩子们都很想换换口味了';

    expect(shortQuote(text, '白魁老号饭庄', 100)).toBe('白魁老号饭庄的附近有什么好吃的餐馆');
  });

  test('a short quote splits no number or time at its punctuation', () => {
    const text = `${'a '.repeat(40)}we pay 1,204.50 at 14:30 for the whole thing, ${'b '.repeat(40)}`;

    expect(shortQuote(text, '1,204.50', 200)).toContain('we pay 1,204.50 at 14:30');
  });

  test('a sentence that writes the fact otherwise gives no short quote', () => {
    expect(shortQuote(sentence, 'ZZ-1', 100)).toBeUndefined();
  });
});
