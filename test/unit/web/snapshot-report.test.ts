import { expect, test } from 'vitest';
import { UNSAID_MARK as markOfEngine } from '#shared/compaction/values.ts';
import { isCarried, isFrom, readCheckOutcome, UNSAID_MARK } from '#web/state/compactions.ts';

const checked = { statements: 3, values: 5, markedCount: 1, refusedTexts: [] };

test.each([
  ['checked', { strategy: 'ledger', report: checked }],
  ['byModel', { strategy: 'gemini-cli', report: { tokensSource: 'counted' } }],
  ['byCode', { strategy: 'fallback', report: { tokensSource: 'counted' } }],
  ['checked', { strategy: 'copy', report: checked }],
  ['copied', { strategy: 'copy', report: {} }],
  ['none', {}],
])('the report of a snapshot check, %s: %j', (kind, compaction) => {
  expect(readCheckOutcome(compaction).kind).toBe(kind);
});

test('the page explains the mark that the engine writes', () => {
  expect(UNSAID_MARK).toBe(markOfEngine);
});

test.each([
  ['where all its turns were folded before', [1, 3], true],
  ['not where one of them is folded now', [3, 4], false],
  ['not where it names no turns', [], false],
])('a statement was known before: %s', (_case, sources, expected) => {
  expect(isCarried({ sources }, { from: 4 })).toBe(expected);
});

test.each([
  ['a turn that it cites', { sources: [2, 5] }, [2, 5]],
  ['every turn of the stretch of a topic', { sources: [2], through: 4 }, [2, 3, 4]],
  ['none without sources', { sources: [] }, []],
])('a statement comes from %s', (_case, item, expected) => {
  expect([1, 2, 3, 4, 5, 6].filter((seq) => isFrom(item, seq))).toEqual(expected);
});
