import { describe, expect, test } from 'vitest';
import { indexFacts } from '#shared/compaction/facts/index/fact-index.ts';
import { statedIdentifiers } from '#shared/compaction/rewrite/stated-identifiers.ts';
import {
  verifySections,
  type VerificationInput,
} from '#shared/compaction/rewrite/verify-sections.ts';
import { emptySections } from '#shared/compaction/snapshot-sections.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';

const goal =
  'The user wants to plan a long trip to the south of France in spring with two friends.';

function verify(input: Partial<VerificationInput> = {}) {
  return verifySections({
    sections: { ...emptySections, overall_goal: goal },
    stated: [],
    sources: undefined,
    snapshotBudgetTokens: 400,
    counting: { rule: 'character-class' },
    ...input,
  });
}

const stated = (...texts: string[]) =>
  statedIdentifiers(texts.map((text, index) => ({ seq: index + 1, text })));

/** What key_knowledge becomes when the user said this and the summary says nothing of it. */
const quoted = (...texts: string[]) => verify({ stated: stated(...texts) }).repaired.key_knowledge;

test.each<[string, string, string[]]>([
  ['a plain one', goal, []],
  ['nothing', ' ', ['EMPTY']],
  ['a word', 'Trip', ['TOO_SMALL']],
  [
    'more than twice the budget',
    Array.from({ length: 900 }, (_, n) => `${n} dogs`).join(' '),
    ['TOO_LARGE'],
  ],
  ['a loop', 'The user asks again.\n'.repeat(7), ['REPETITIVE']],
])('the shape of a rewritten summary: %s', (_, text, problems) => {
  const result = verify({ sections: { ...emptySections, overall_goal: text } });

  expect(result.problems).toEqual(problems);
  expect(result.ok).toBe(problems.length === 0);
});

describe('what the user stated', () => {
  test('an identifier that the summary lost is appended in its sentence’s words', () => {
    const result = verify({ stated: stated('Good day. My order is ORD-20231 by the way. Bye!') });

    expect(result).toMatchObject({ ok: true, appendedIdentifiers: ['ORD-20231'] });
    expect(result.repaired.key_knowledge).toBe('- User: "My order is ORD-20231 by the way."');
  });

  test('a lost identifier is appended behind the existing key_knowledge', () => {
    const result = verify({
      sections: { ...emptySections, overall_goal: goal, key_knowledge: '- Two friends' },
      stated: stated('Seat 4711AB'),
    });

    expect(result.repaired.key_knowledge.split('\n')[0]).toBe('- Two friends');
  });

  test.each([
    ['as it was', 'order ORD-20231', 'The order is ORD-20231.'],
    ['in other case', 'code AB12CD', 'code ab12cd'],
    ['with other separators', 'call 010-1234-5678', 'phone 010 1234 5678'],
    ['with thousands separators', 'pay 1250000 won', 'pay 1,250,000 won'],
    ['as part of a joined one', 'order 202310', 'order ORD-202310'],
    ['without its number sign', 'ticket #12345', 'ticket 12345'],
    ['inside brackets', 'see https://a.example/x1', '(https://a.example/x1)'],
  ])('an identifier is not appended when the summary has it %s', (_, said, line) => {
    const sections = { ...emptySections, overall_goal: goal, key_knowledge: line };

    expect(verify({ sections, stated: stated(said) }).appendedIdentifiers).toEqual([]);
  });

  test.each([
    ['is lost', 'order ORD-20231 and 99887', 'an order and 99887', ['ORD-20231']],
    ['is part of a longer number', 'order 12345', 'order 9123456', ['12345']],
    ['is said twice', '12345 and 12345', '', ['12345']],
  ])('an identifier is appended once when it %s', (...[, said, line, identifiers]) => {
    const sections = { ...emptySections, overall_goal: goal, key_knowledge: line };

    expect(verify({ sections, stated: stated(said) }).appendedIdentifiers).toEqual(identifiers);
  });

  test('a sentence with several lost identifiers is quoted in one line', () => {
    const result = verify({ stated: stated('Orders ORD-20231 and ORD-20232 and ORD-20233') });

    expect(result.repaired.key_knowledge.split('\n')).toHaveLength(1);
    expect(result.appendedIdentifiers).toHaveLength(3);
  });

  test('a lost identifier in a long text is quoted with its surrounding words', () => {
    const line = quoted(`${'before '.repeat(200)}ORD-20231${' after'.repeat(200)}`);

    expect(line).toContain('before ORD-20231 after');
    expect(line.length).toBeLessThan(350);
  });

  test('a lost identifier is quoted from text without blanks too', () => {
    const text = `${'注文の番号を'.repeat(40)}AB-20231${'を確認して'.repeat(40)}`;

    const result = verify({ stated: stated(text), snapshotBudgetTokens: 800 });

    expect(result.repaired.key_knowledge).toContain('番号をAB-20231を確認');
  });

  test('lost identifiers are quoted in the order of the turns', () => {
    const lines = quoted('First of all, order ORD-20231 is mine.', 'ORD-99 and AB12CD too.');

    expect(lines).toMatch(/ORD-20231[^]*AB12CD/u);
  });

  test('lost identifiers over a quarter of the budget are listed as a problem', () => {
    const texts = Array.from(
      { length: 100 },
      (_, index) => `Remember the order ORD-${10_000 + index} that I placed some time ago`,
    );

    const result = verify({ stated: stated(...texts) });

    const appended = estimateTextTokens(result.repaired.key_knowledge, 'character-class');
    expect(result).toMatchObject({ ok: false, problems: ['MISSING_IDENTIFIERS'] });
    expect(appended).toBeLessThanOrEqual(100);
    expect(result.missingIdentifiers.length + result.appendedIdentifiers.length).toBe(100);
    expect(result.appendedIdentifiers.length).toBeGreaterThan(0);
  });

  test('a lost identifier longer than the budget is listed, not quoted', () => {
    const link = 'https://example.org/'.padEnd(1_900, 'x');

    expect(verify({ stated: stated(`See ${link}`) }).missingIdentifiers).toEqual([link]);
  });
});

const madeUpWord = (index: number) =>
  Array.from(
    { length: 6 },
    (_, at) => 'abcdefghijklmnopqrstuvwxyz'[(index * (at + 3) + at) % 26],
  ).join('');

const sections = (lines: readonly string[]) => ({
  ...emptySections,
  overall_goal: goal,
  key_knowledge: lines.join('\n'),
});

describe('a line without a source', () => {
  const said = 'The invoice INV-20412 is about 1,204.50 EUR.';
  const right = '- The invoice INV-20412 is about 1204.5 EUR.';
  const sources = indexFacts([said]);

  test('a summary line without a source is dropped and reported', () => {
    const wrong = '- The deposit is 350 EUR.';

    const result = verify({ sections: sections([right, wrong]), sources });

    expect(result).toMatchObject({ ok: true, droppedLines: [wrong] });
    expect(result.unsupportedFacts).toEqual(['350 EUR']);
    expect(result.repaired).toEqual(sections([right]));
  });

  test('a dropped summary line makes room for the user’s own words', () => {
    const result = verify({
      sections: sections(['- The invoice is INV-20411.']),
      stated: stated(said),
      sources,
    });

    expect(result.unsupportedFacts).toEqual(['INV-20411']);
    expect(result.repaired.key_knowledge).toBe(`- User: "${said}"`);
  });

  test.each([
    [60, 2, []],
    [60, 3, []],
    [60, 4, ['UNSUPPORTED_FACTS']],
    [20, 3, ['UNSUPPORTED_FACTS']],
    [3, 2, ['UNSUPPORTED_FACTS']],
  ])(
    'a summary of %i lines with %i unsupported ones has the problems %j',
    (lines, wrong, problems) => {
      const told = Array.from({ length: lines - 1 }, (__, index) =>
        index < wrong
          ? `- Room ${700 + index}`
          : `- ${madeUpWord(index)} ${madeUpWord(index * 7 + 3)} in ${madeUpWord(index * 11 + 5)}`,
      );

      const result = verify({ sections: sections(told), snapshotBudgetTokens: 8_000, sources });

      expect(result.droppedLines).toHaveLength(wrong);
      expect(result.problems).toEqual(problems);
    },
  );

  test('a summary line without a source stays when not every source is text', () => {
    const result = verify({ sections: sections(['- Room 714']), sources: undefined });

    expect(result.droppedLines).toEqual([]);
  });
});
