import { describe, expect, test } from 'vitest';
import { factSupportOf } from '../../../shared/compaction/fact-support.ts';
import { emptySections } from '../../../shared/compaction/snapshot-sections.ts';
import { estimateTextTokens } from '../../../shared/compaction/token-estimate.ts';
import { verifySnapshot, type VerificationInput } from '../../../shared/compaction/verification.ts';

const goal =
  'The user wants to plan a long trip to the south of France in spring with two friends.';

function verify(input: Partial<VerificationInput> = {}) {
  return verifySnapshot({
    sections: { ...emptySections, overall_goal: goal },
    foldedUserTexts: [],
    keptTexts: [],
    support: undefined,
    snapshotBudgetTokens: 400,
    rule: 'character-class',
    ...input,
  });
}

describe('verifySnapshot', () => {
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
  ])('%s', (_, text, problems) => {
    const result = verify({ sections: { ...emptySections, overall_goal: text } });

    expect(result.problems).toEqual(problems);
    expect(result.ok).toBe(problems.length === 0);
  });

  test('appends an identifier that the summary lost, with its turn and its words', () => {
    const result = verify({
      foldedUserTexts: [{ seq: 12, text: 'My order is ORD-20231 by the way' }],
    });

    expect(result.ok).toBe(true);
    expect(result.appendedIdentifiers).toEqual(['ORD-20231']);
    expect(result.repaired.key_knowledge).toBe(
      '- The user said (turn 12): "My order is ORD-20231 by the way"',
    );
  });

  test('keeps what key_knowledge says already', () => {
    const result = verify({
      sections: { ...emptySections, overall_goal: goal, key_knowledge: '- Two friends' },
      foldedUserTexts: [{ seq: 1, text: 'Seat 4711AB' }],
    });

    expect(result.repaired.key_knowledge.split('\n')[0]).toBe('- Two friends');
  });

  test.each([
    ['the snapshot', { sections: { ...emptySections, overall_goal: `${goal} ORD-20231` } }],
    ['what is kept', { keptTexts: ['about ORD-20231'] }],
  ])('appends nothing that is in %s', (_, input) => {
    const result = verify({ foldedUserTexts: [{ seq: 1, text: 'ORD-20231' }], ...input });

    expect(result.appendedIdentifiers).toEqual([]);
    expect(result.repaired.key_knowledge).toBe('');
  });

  test('quotes about 200 characters around an identifier in a long text', () => {
    const text = `${'before '.repeat(200)}ORD-20231${' after'.repeat(200)}`;

    const line = verify({ foldedUserTexts: [{ seq: 3, text }] }).repaired.key_knowledge;

    expect(line).toContain('before ORD-20231 after');
    expect(line.length).toBeLessThan(250);
  });

  test('says one sentence for several identifiers of one message', () => {
    const text = 'Orders ORD-20231 and ORD-20232 and ORD-20233';

    const result = verify({ foldedUserTexts: [{ seq: 1, text }] });

    expect(result.repaired.key_knowledge.split('\n')).toHaveLength(1);
    expect(result.appendedIdentifiers).toHaveLength(3);
  });

  test('is not ok when more is missing than a quarter of the budget holds, and lists it', () => {
    const foldedUserTexts = Array.from({ length: 100 }, (_, index) => ({
      seq: index + 1,
      text: `Remember the order ORD-${10_000 + index} that I placed with you some time ago`,
    }));

    const result = verify({ foldedUserTexts });

    const appended = estimateTextTokens(result.repaired.key_knowledge, 'character-class');
    expect(result.ok).toBe(false);
    expect(result.problems).toEqual(['MISSING_IDENTIFIERS']);
    expect(appended).toBeLessThanOrEqual(100);
    expect(result.missingIdentifiers.length + result.appendedIdentifiers.length).toBe(100);
    expect(result.missingIdentifiers).toContain('ORD-10099');
  });

  test('quotes whole words only', () => {
    const text = `${'Concerning page 1: my invoice. '.repeat(9)}ORD-20231${' afterwards,'.repeat(20)}`;

    const line = verify({ foldedUserTexts: [{ seq: 3, text }] }).repaired.key_knowledge;

    expect(line).toMatch(/"…(?:Concerning|page|1:|my|invoice\.) .* afterwards,…"$/);
  });

  test('quotes text without blanks too', () => {
    const text = `${'注文の番号を'.repeat(40)}AB-20231${'を確認して'.repeat(40)}`;

    const line = verify({ foldedUserTexts: [{ seq: 3, text }] }).repaired.key_knowledge;

    expect(line).toContain('注文の番号をAB-20231を確認して');
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

describe('precision', () => {
  const said = 'The invoice INV-20412 is about 1,204.50 EUR.';
  const right = '- The invoice INV-20412 is about 1204.5 EUR.';

  test('drops a line that says what no source says, and tells which', () => {
    const wrong = '- The deposit is 350 EUR.';

    const result = verify({ sections: sections([right, wrong]), support: factSupportOf([said]) });

    expect(result).toMatchObject({ ok: true, droppedLines: [wrong], unsupportedFacts: ['350'] });
    expect(result.repaired).toEqual(sections([right]));
  });

  test('appends what the user said when the line with it was wrong', () => {
    const result = verify({
      sections: sections(['- The invoice is INV-20411.']),
      foldedUserTexts: [{ seq: 4, text: said }],
      support: factSupportOf([said]),
    });

    expect(result.unsupportedFacts).toEqual(['INV-20411']);
    expect(result.repaired.key_knowledge).toBe(`- The user said (turn 4): "${said}"`);
  });

  test.each([
    [60, 2, []],
    [60, 3, []],
    [60, 4, ['UNSUPPORTED_FACTS']],
    [20, 3, ['UNSUPPORTED_FACTS']],
    [3, 2, ['UNSUPPORTED_FACTS']],
  ])('of %i lines %i without a source: the problems are %j', (lines, wrong, problems) => {
    const told = Array.from({ length: lines - 1 }, (__, index) =>
      index < wrong
        ? `- Room ${700 + index}`
        : `- ${madeUpWord(index)} ${madeUpWord(index * 7 + 3)} in ${madeUpWord(index * 11 + 5)}`,
    );

    const result = verify({
      sections: sections(told),
      snapshotBudgetTokens: 8_000,
      support: factSupportOf([said]),
    });

    expect(result.droppedLines).toHaveLength(wrong);
    expect(result.problems).toEqual(problems);
  });

  test('drops nothing when not every source is text', () => {
    const result = verify({ sections: sections(['- Room 714']), support: undefined });

    expect(result.droppedLines).toEqual([]);
  });
});
