import { expect, test } from 'vitest';
import {
  judgeInventive,
  judgeKilledWorker,
  judgeRedelivery,
  judgeThreshold,
  longNumbers,
} from '#web/panes/faults/compaction-verdicts.ts';
import {
  judgeBlocked,
  judgeDrop,
  judgeKilledChat,
  judgeRefusals,
  judgeResend,
} from '#web/panes/faults/turn-verdicts.ts';

const text = { streamedText: 'All of it.', storedText: 'All of it.' };

test.each([
  [
    'the rest after the cut',
    'held',
    {
      connections: [
        [0, 1, 2],
        [3, 4],
      ],
      ...text,
    },
  ],
  ['the rest over three connections', 'held', { connections: [[0, 1], [2], [3, 4]], ...text }],
  [
    'ids that jump where a part was joined',
    'held',
    {
      connections: [
        [0, 1],
        [5, 6],
      ],
      ...text,
    },
  ],
  ['a connection that brought nothing', 'held', { connections: [[0, 1], [], [2]], ...text }],
  [
    'an event that comes again',
    'broken',
    {
      connections: [
        [0, 1, 2],
        [2, 3],
      ],
      ...text,
    },
  ],
  ['events out of order', 'broken', { connections: [[0, 2, 1], [3]], ...text }],
  [
    'a gap in the text',
    'broken',
    { connections: [[0, 1], [3]], streamedText: 'All it.', storedText: 'All of it.' },
  ],
  [
    'no second connection, and half of the text',
    'broken',
    { connections: [[0, 1]], streamedText: 'All', storedText: 'All of it.' },
  ],
  ['an end before the cut', 'unclear', { connections: [[0, 1, 2]], ...text }],
])('the verdict on a dropped stream, %s: %s', (_case, outcome, seen) => {
  expect(judgeDrop(seen).outcome).toBe(outcome);
});

test('the verdict on a dropped stream lists the events around the cut', () => {
  expect(judgeDrop({ connections: [[0, 11, 12], [13]], ...text }).finding).toEqual({
    fault: 'drop',
    cutAfter: 12,
    resumedAt: 13,
    repeated: 0,
    isSameText: true,
  });
});

const five = (value: string) => Array.from({ length: 5 }, () => value);

test.each([
  [
    'one turn, one call',
    'held',
    { turnIds: five('t_1'), answers: five('Yes.'), turns: 1, calls: 1 },
  ],
  [
    'calls that nobody counts',
    'held',
    { turnIds: five('t_1'), answers: five('Yes.'), turns: 1, calls: undefined },
  ],
  ['two calls', 'broken', { turnIds: five('t_1'), answers: five('Yes.'), turns: 1, calls: 2 }],
  ['two turns', 'broken', { turnIds: ['t_1', 't_2'], answers: five('Yes.'), turns: 2, calls: 1 }],
  ['two answers', 'broken', { turnIds: five('t_1'), answers: ['Yes.', 'No.'], turns: 1, calls: 1 }],
  ['no turn at all', 'broken', { turnIds: five(''), answers: five(''), turns: 0, calls: 0 }],
  ['a single send', 'unclear', { turnIds: ['t_1'], answers: ['Yes.'], turns: 1, calls: 1 }],
])('the verdict on a message that is sent again, %s: %s', (_case, outcome, seen) => {
  expect(judgeResend(seen).outcome).toBe(outcome);
});

const killed = { wasCut: true, turns: 1, attempts: 2, isAnswered: true, afterMs: 900 };

test.each([
  ['an answer of the same turn', 'held', killed],
  ['no answer', 'broken', { ...killed, isAnswered: false }],
  ['a second turn', 'broken', { ...killed, turns: 2 }],
  ['an answer that had ended before', 'unclear', { ...killed, wasCut: false }],
])('the verdict on a killed chat function, %s: %s', (_case, outcome, seen) => {
  expect(judgeKilledChat(seen).outcome).toBe(outcome);
});

const refused = {
  fault: 'quota' as const,
  calls: ['quota', 'quota', undefined],
  turns: 1,
  isAnswered: true,
};

test.each([
  ['an answer at the third try', 'held', refused],
  ['no answer', 'broken', { ...refused, calls: ['quota', 'quota'], isAnswered: false }],
  ['two turns', 'broken', { ...refused, turns: 2 }],
  ['a model that did not refuse', 'unclear', { ...refused, calls: [undefined] }],
  ['another fault than was asked for', 'unclear', { ...refused, calls: ['safety', undefined] }],
])('the verdict on a model that refuses, %s: %s', (_case, outcome, seen) => {
  expect(judgeRefusals(seen).outcome).toBe(outcome);
});

const blocked = {
  finishReason: 'content-filter',
  isKept: true,
  isInContext: false,
  isNextAnswered: true,
};

test.each([
  ['kept and out of sight', 'held', blocked],
  ['lost from the transcript', 'broken', { ...blocked, isKept: false }],
  ['still in the context', 'broken', { ...blocked, isInContext: true }],
  ['a conversation that does not go on', 'broken', { ...blocked, isNextAnswered: false }],
  ['an answer that was not blocked', 'unclear', { ...blocked, finishReason: 'stop' }],
])('the verdict on a blocked answer, %s: %s', (_case, outcome, seen) => {
  expect(judgeBlocked(seen).outcome).toBe(outcome);
});

const worker = {
  stateAtKill: 'RUNNING',
  swaps: 1,
  sent: ['one', 'two'],
  stored: ['one', 'two', 'three'],
  afterMs: 14_000,
};

test.each([
  ['one swap and every message', 'held', worker],
  ['no swap', 'broken', { ...worker, swaps: 0 }],
  ['two swaps', 'broken', { ...worker, swaps: 2 }],
  ['a lost message', 'broken', { ...worker, stored: ['one'] }],
  ['a kill before the work', 'unclear', { ...worker, stateAtKill: 'QUEUED' }],
  ['a kill after the work', 'unclear', { ...worker, stateAtKill: 'COMPACTED' }],
])('the verdict on a killed worker, %s: %s', (_case, outcome, seen) => {
  expect(judgeKilledWorker(seen).outcome).toBe(outcome);
});

test.each([
  ['three acknowledgements and one swap', 'held', { codes: [204, 204, 204], swaps: 1 }],
  ['a second swap', 'broken', { codes: [204, 204, 204], swaps: 2 }],
  ['a delivery that is refused', 'broken', { codes: [204, 503, 204], swaps: 1 }],
  ['a delivery without an answer', 'broken', { codes: [204, 0, 204], swaps: 1 }],
  ['no compaction to be redelivered', 'unclear', { codes: [204, 204, 204], swaps: 0 }],
])('the verdict on a repeated event, %s: %s', (_case, outcome, seen) => {
  expect(judgeRedelivery(seen).outcome).toBe(outcome);
});

const inventive = {
  snapshot: 'Order QX-4712⁇ costs 120.50 EUR at 9:30; call 5551234⁇.',
  transcript: 'I order 12 roses, QX-4711, for 120.50 EUR. Call 5551239.',
  marked: 2,
};

test.each([
  ['numbers that were said, and marked ones', 'held', inventive],
  [
    'short numbers, which may be said in other words',
    'held',
    { ...inventive, snapshot: 'In 14 days, 4712⁇' },
  ],
  [
    'an invented amount without a mark',
    'broken',
    { ...inventive, snapshot: 'It costs 120.51 EUR.' },
  ],
  ['an invention that nobody met', 'broken', { ...inventive, snapshot: '1301', marked: 0 }],
  ['a model that invented nothing', 'unclear', { ...inventive, snapshot: '120.50 EUR', marked: 0 }],
  ['no compaction', 'unclear', { ...inventive, snapshot: undefined }],
])('the verdict on an inventive summariser, %s: %s', (_case, outcome, seen) => {
  expect(judgeInventive(seen).outcome).toBe(outcome);
});

test('an amount or a day with separators is one number, and a mark behind its word is its own', () => {
  expect(longNumbers('12 for 120.50 on 2026-11-22 at 9:30, QX-771-A⁇ 4711')).toEqual([
    { number: '120.50', isMarked: false },
    { number: '2026-11-22', isMarked: false },
    { number: '771', isMarked: true },
    { number: '4711', isMarked: false },
  ]);
});

const threshold = { wasCrossed: true, state: 'COMPACTED', turnsFolded: 8, reason: undefined };

test.each([
  ['a compaction', 'held', threshold],
  ['a recorded reason', 'held', { ...threshold, state: 'NOOP', reason: 'NOTHING_TO_FOLD' }],
  ['an end without a reason', 'broken', { ...threshold, state: 'FAILED_ERROR' }],
  ['nothing at all', 'broken', { ...threshold, state: undefined }],
  ['a context below it', 'unclear', { ...threshold, wasCrossed: false }],
])('the verdict on a lowered threshold, %s: %s', (_case, outcome, seen) => {
  expect(judgeThreshold(seen).outcome).toBe(outcome);
});
