import { expect, test } from 'vitest';
import { mergeOperations } from '#shared/compaction/ledger/operations/merge-operations.ts';
import type { Operation } from '#shared/compaction/ledger/prompt/operation.ts';

const add = (text: string): Operation => ({ op: 'add', section: 'decisions', text, sources: [1] });
const update = (id: string, text: string): Operation => ({ op: 'update', id, text, sources: [1] });
const remove = (id: string): Operation => ({ op: 'remove', id, reason: 'over', sources: [1] });

test.each([
  ['keep their order', [[add('a'), add('b')], [add('c')]], [add('a'), add('b'), add('c')]],
  [
    'of the later chunk win an item',
    [[update('i1', 'a')], [update('i1', 'b')]],
    [update('i1', 'b')],
  ],
  ['update rather than remove, later', [[remove('i1')], [update('i1', 'b')]], [update('i1', 'b')]],
  ['update rather than remove, before', [[update('i1', 'b')], [remove('i1')]], [update('i1', 'b')]],
  ['remove once', [[remove('i1')], [remove('i1')]], [remove('i1')]],
  [
    'of one chunk hold together',
    [[update('i1', 'a'), remove('i1')], [add('b')]],
    [update('i1', 'a'), remove('i1'), add('b')],
  ],
  [
    'of different items do not meet',
    [[update('i1', 'a')], [remove('i2')]],
    [update('i1', 'a'), remove('i2')],
  ],
  ['of no chunk are none', [], []],
])('merging operations %s', (_, chunks, merged) => {
  expect(mergeOperations(chunks)).toEqual(merged);
});
