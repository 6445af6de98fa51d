import type { TurnDocument } from '#shared/conversation/documents/turn.ts';
import { decideQueued, queueAfter, type QueuedFacts } from '#shared/conversation/start-decision.ts';
import {
  earlier,
  emptyConversation as conversation,
  later,
  longAgo,
  now,
  turnDocument,
} from '#test/support/tools/turn-decisions.ts';
import { expect, test } from 'vitest';

const turn = (
  seq: number,
  state: TurnDocument['value']['state'],
  fields: Partial<TurnDocument['value']> = {},
) => turnDocument({ seq, state, producer: 'mine', ...fields });

const own = turn(5, 'queued');
const facts = (changes: Partial<QueuedFacts>): QueuedFacts => ({
  now,
  conversation,
  own,
  producer: 'mine',
  open: undefined,
  queue: [own],
  ...changes,
});

test.each([
  [
    'its own when nothing is before it',
    {},
    { kind: 'beginQueued', seq: 5, attempt: 1, abandoned: [] },
  ],
  [
    'not its own while the one before is being answered',
    { open: turn(4, 'running') },
    { kind: 'wait', behind: 4 },
  ],
  [
    'of the nearest one that somebody waits with',
    { open: turn(2, 'running'), queue: [turn(3, 'queued'), turn(4, 'queued'), own] },
    { kind: 'wait', behind: 4 },
  ],
  [
    'its own when those before it have ended',
    { queue: [turn(3, 'cancelled'), turn(4, 'failed'), own] },
    { kind: 'beginQueued', seq: 5, attempt: 1, abandoned: [] },
  ],
  [
    'its own when those before it were left alone: they are closed',
    {
      open: turn(2, 'running', { leaseUntil: longAgo }),
      queue: [turn(3, 'queued', { leaseUntil: longAgo }), turn(4, 'cancelled'), own],
    },
    { kind: 'beginQueued', seq: 5, attempt: 1, abandoned: [2, 3] },
  ],
  [
    'still of one whose lease has just run out: its sender may be coming back',
    { queue: [turn(4, 'queued', { leaseUntil: earlier }), own] },
    { kind: 'wait', behind: 4 },
  ],
  [
    'still of an answer whose instance has just died: its sender may take it over',
    { open: turn(4, 'running', { leaseUntil: earlier }) },
    { kind: 'wait', behind: 4 },
  ],
  [
    'not its own while one before those left alone is being answered',
    {
      open: turn(3, 'running'),
      queue: [turn(4, 'queued', { leaseUntil: longAgo }), own],
    },
    { kind: 'wait', behind: 3 },
  ],
  [
    'its own before those behind it',
    { queue: [own, turn(6, 'queued')] },
    { kind: 'beginQueued', seq: 5, attempt: 1, abandoned: [] },
  ],
  ['nobody’s when it was cancelled', { own: turn(5, 'cancelled') }, { kind: 'gone' }],
  [
    'another’s who waits with it now',
    { own: turn(5, 'queued', { producer: 'another' }) },
    { kind: 'gone' },
  ],
  [
    'nobody’s when the conversation was deleted',
    { conversation: { ...conversation, state: 'deleted' as const } },
    { kind: 'gone' },
  ],
] satisfies [string, Partial<QueuedFacts>, object][])(
  'the next queued turn is %s',
  (_, changes, decision) => {
    expect(decideQueued(facts(changes))).toEqual(decision);
  },
);

test.each([
  ['begins with the next one', [own, turn(6, 'queued')], { first: 6, leaseUntil: later }],
  [
    'passes over those that were cancelled',
    [own, turn(6, 'cancelled'), turn(7, 'queued')],
    { first: 7, leaseUntil: later },
  ],
  ['is none when only ended ones are left', [own, turn(6, 'failed')], undefined],
])('the queue after a turn: %s', (_, queue, expected) => {
  expect(queueAfter(queue, 5)).toEqual(expected);
});
