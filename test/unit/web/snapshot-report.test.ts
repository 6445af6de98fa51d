import { expect, test } from 'vitest';
import { isCarried } from '#web/state/context/provenance.ts';
import { readSnapshotReport } from '#web/state/report.ts';

const ledger = { recall: {}, precision: {}, verbatim: {} };

test.each([
  ['ledger', { strategy: 'ledger', report: ledger }],
  ['byModel', { strategy: 'gemini-cli', report: { tokensSource: 'counted' } }],
  ['byCode', { strategy: 'fallback', report: { tokensSource: 'counted' } }],
  ['ledger', { strategy: 'copy', report: ledger }],
  ['copied', { strategy: 'copy', report: {} }],
  ['none', {}],
])('the report of a snapshot check, %s: %j', (kind, compaction) => {
  expect(readSnapshotReport(compaction).kind).toBe(kind);
});

test.each([
  ['where all its turns were folded before', [1, 3], 'ledger', true],
  ['not where one of them is folded now', [3, 4], 'ledger', false],
  ['where it is older than sources are', [], 'ledger', true],
  ['not for all that is known where the model wrote everything anew', [], 'gemini-cli', false],
])('a statement was known before: %s', (...[, sources, strategy, expected]) => {
  expect(isCarried({ sources }, { from: 4, strategy })).toBe(expected);
});
