import type { TurnDocument } from '#shared/conversation/documents/turn.ts';
import { decideQueued, type QueuedFacts } from '#shared/conversation/start-decision.ts';
import {
  earlier,
  emptyConversation as conversation,
  longAgo,
  now,
  turnDocument,
} from '../turn-decisions.ts';
import { expect, test } from 'vitest';

const turn = (
  seq: number,
  state: TurnDocument['value']['state'],
  fields: Partial<TurnDocument['value']> = {},
) => turnDocument({ seq, state, producer: 'mine', ...fields });

const own = turn(5, 'queued');
const toolResultTimeoutMs = 3_600_000;

/** A turn that asked the app some time ago. */
const asking = (agoMs: number) =>
  turn(4, 'awaiting_tool', {
    leaseUntil: new Date(now.getTime() - agoMs + toolResultTimeoutMs),
  });
const facts = (changes: Partial<QueuedFacts>): QueuedFacts => ({
  now,
  conversation,
  own,
  producer: 'mine',
  open: undefined,
  queue: [own],
  toolResultTimeoutMs,
  ...changes,
});

test.each([
  [
    'its own when nothing is before it',
    {},
    { kind: 'beginQueued', seq: 5, attempt: 1, closes: [] },
  ],
  [
    'its own when those before it have ended',
    { queue: [turn(3, 'cancelled'), turn(4, 'failed'), own] },
    { kind: 'beginQueued', seq: 5, attempt: 1, closes: [] },
  ],
  [
    'its own when those before it were left alone: they are closed',
    {
      open: turn(2, 'running', { leaseUntil: longAgo }),
      queue: [turn(3, 'queued', { leaseUntil: longAgo }), turn(4, 'cancelled'), own],
    },
    { kind: 'beginQueued', seq: 5, attempt: 1, closes: [2, 3] },
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
    'not its own while the app has time to answer the calls of the one before it',
    { open: asking(29_000) },
    { kind: 'wait', behind: 4 },
  ],
  [
    'its own when the app has not answered in that time',
    { open: asking(30_000) },
    { kind: 'beginQueued', seq: 5, attempt: 1, closes: [4] },
  ],
  [
    'its own when the app’s time is over, where it is shorter than that',
    {
      open: turn(4, 'awaiting_tool', { leaseUntil: earlier }),
      toolResultTimeoutMs: 5_000,
    },
    { kind: 'beginQueued', seq: 5, attempt: 1, closes: [4] },
  ],
  ['nobody’s when it was cancelled', { own: turn(5, 'cancelled') }, { kind: 'sendAgain' }],
  [
    'nobody’s when the conversation was deleted',
    { conversation: { ...conversation, state: 'deleted' as const } },
    { kind: 'sendAgain' },
  ],
] satisfies [string, Partial<QueuedFacts>, object][])(
  'the next queued turn is %s',
  (_, changes, decision) => {
    expect(decideQueued(facts(changes))).toEqual(decision);
  },
);
