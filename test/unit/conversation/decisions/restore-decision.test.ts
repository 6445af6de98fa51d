import type { History } from '#shared/conversation/documents/history.ts';
import {
  continuedHistory,
  decideRestore,
  type RestoreFacts,
} from '#shared/conversation/writes/next-generation.ts';
import { expect, test } from 'vitest';

const history = (generation: number, fields: Partial<History> = {}): History => ({
  ...continuedHistory({
    conversation: { generation: generation - 1 },
    source: undefined,
    state: 'RESTORED',
    changedSeqs: [],
    requestId: `request-${generation}`,
    by: 'w',
    now: new Date('2026-01-02T03:04:05Z'),
    beforeTokens: 1,
    afterTokens: 1,
  }),
  state: 'COMPACTED',
  ...fields,
});

const mask = (seq: number) => ({ seq, contentIndex: 0, partIndex: 0, part: { text: 'short' } });
const first = history(1, {
  coveredThrough: { seq: 5, contentIndex: 0 },
  masks: [mask(6), mask(8)],
});
const second = history(2);
const back = history(3, { state: 'RESTORED', restoredFrom: 1 });

const facts = (changes: Partial<RestoreFacts>): RestoreFacts => ({
  generation: 1,
  requestId: 'new',
  present: 2,
  newest: [second, first],
  source: first,
  changedFromSeq: undefined,
  ...changes,
});

test.each([
  ['goes back to an earlier generation', {}, { kind: 'restore', source: first, changedSeqs: [] }],
  [
    'goes back to none',
    { generation: 0, source: undefined },
    { kind: 'restore', source: undefined, changedSeqs: [] },
  ],
  [
    'leaves out what shortened turns that changed since',
    { changedFromSeq: 7 },
    { kind: 'restore', source: first, changedSeqs: [8] },
  ],
  [
    'of a generation that covers changed turns is outdated',
    { changedFromSeq: 5 },
    { kind: 'outdated' },
  ],
  [
    'of a generation that told of an erased turn finds it erased',
    { source: { ...first, erased: true } },
    { kind: 'erased' },
  ],
  ['finds no generation to come', { generation: 3, source: undefined }, { kind: 'notFound' }],
  ['finds no generation whose document is gone', { source: undefined }, { kind: 'notFound' }],
  [
    'of the present generation is done',
    { generation: 2, source: second },
    { kind: 'done', history: second },
  ],
  [
    'to another generation under the id of an earlier one is refused',
    { generation: 2, requestId: 'request-3', present: 4, newest: [history(4), back] },
    { kind: 'reused', history: back },
  ],
  [
    'that is asked for again by its id is done',
    { requestId: 'request-3', present: 4, newest: [history(4), back] },
    { kind: 'done', history: back },
  ],
  [
    'to where the last one went is done',
    { present: 3, newest: [back, second, first] },
    { kind: 'done', history: back },
  ],
  [
    'has nothing to do where nothing was folded',
    { generation: 0, present: 0, newest: [], source: undefined },
    { kind: 'nothing' },
  ],
] satisfies [string, Partial<RestoreFacts>, object][])(
  'restoring a generation: %s',
  (_, changes, decision) => {
    expect(decideRestore(facts(changes))).toEqual(decision);
  },
);
