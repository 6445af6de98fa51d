import { expect, test } from 'vitest';
import { copiedShare } from '#shared/compaction/ledger/repair/allowance.ts';
import { citedTurns } from '#shared/compaction/ledger/operations/cited-turns.ts';
import { modelItem, saidTurn } from '#test/support/compaction/said-turn.ts';

const turns = citedTurns([
  saidTurn(1, {
    user: 'My sister plays the oboe in Porto. We visit her by train.',
    model: 'Porto is lovely in spring.',
  }),
  saidTurn(2, { user: 'And then?', tool: 'The station opens at dawn' }),
]);
const shareOf = (...texts: string[]) =>
  copiedShare(
    texts.map((text, index) => ({ ...modelItem(index, text), section: 'key_knowledge' })),
    turns,
  );

test.each([
  ['nothing is stated', [], 0],
  [
    'all are sentences of user and model',
    ['We visit her by train.', 'Porto is lovely in spring.'],
    1,
  ],
  ['one of two is', ['My sister plays the oboe in Porto', 'Sister: oboist, Porto'], 0.5],
  ['case and stop alone are another', ['my sister plays the oboe in porto'], 1],
  ['none is', ['Sister: oboist in Porto; visit by train'], 0],
  ['a copy is of a turn that it does not cite', ['The station opens at dawn'], 0],
])('the share of copied statements: %s', (_what, texts, share) => {
  expect(shareOf(...texts)).toBe(share);
});
