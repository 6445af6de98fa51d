import {
  QUEUE_SPAN_MAX,
  decideStart,
  REPLACED_MAX,
  RESTING_MS,
  type StartFacts,
} from '#shared/conversation/start-decision.ts';
import {
  earlier,
  emptyConversation,
  later,
  longAgo,
  now,
  turnDocument as turn,
} from '../turn-decisions.ts';
import { expect, test } from 'vitest';

const conversation = { ...emptyConversation, lastSeq: 4 };

const waiting = (seq: number, leaseUntil = later) => turn({ seq, state: 'queued', leaseUntil });
const done = (seq: number) => turn({ seq, state: 'done' });

const error = (retryable: boolean) => ({
  status: 'UNAVAILABLE' as const,
  reason: 'R',
  message: 'm',
  retryable,
});
const guardOf = (seq: number) => ({ seq, bodyHash: 'hash' });
const guard = guardOf(4);
/** A turn that was begun and failed for now. */
const failed = (fields: Parameters<typeof turn>[0] = {}) =>
  turn({ state: 'failed', model: 'm', error: error(true), ...fields });

const facts = (changes: Partial<StartFacts>): StartFacts => ({
  now,
  uid: 'owner',
  bodyHash: 'hash',
  conversation,
  guard: undefined,
  known: undefined,
  open: undefined,
  queue: [],
  ...changes,
});

test.each([
  [
    'starts turn 1 of an unknown conversation',
    { conversation: undefined },
    { kind: 'start', seq: 1, closes: [] },
  ],
  ['finds nothing in another user’s conversation', { uid: 'other' }, { kind: 'notFound' }],
  [
    'finds nothing in a deleted conversation',
    { conversation: { ...conversation, state: 'deleted' as const } },
    { kind: 'notFound' },
  ],
  [
    'takes over its own turn when the lease has run out',
    { guard, known: turn({ leaseUntil: earlier }) },
    { kind: 'takeOver', seq: 4, attempt: 2 },
  ],
  [
    'gives up after the third attempt',
    { guard, known: turn({ leaseUntil: earlier, attempt: 3 }) },
    { kind: 'giveUp', seq: 4 },
  ],
  [
    'tries a retryable failure again',
    { guard, known: failed() },
    { kind: 'answerAgain', seq: 4, attempt: 2, closes: [] },
  ],
  [
    'waits with a retryable failure as long as the model asked',
    {
      guard,
      known: failed({ finishTime: earlier, error: { ...error(true), retryAfterMs: 10_001 } }),
    },
    { kind: 'retryLater', seq: 4, retryAfterMs: 10_000 },
  ],
  [
    'lets a failure rest after the third attempt',
    { guard, known: failed({ finishTime: earlier, attempt: 3 }) },
    { kind: 'retryLater', seq: 4, retryAfterMs: RESTING_MS - 1 },
  ],
  [
    'tries it again when it has rested',
    { guard, known: failed({ finishTime: new Date(now.getTime() - RESTING_MS), attempt: 3 }) },
    { kind: 'answerAgain', seq: 4, attempt: 4, closes: [] },
  ],
  [
    'closes those that nobody answers with it',
    {
      guard: guardOf(2),
      known: failed({ seq: 2 }),
      open: turn({ seq: 3, leaseUntil: earlier }),
      queue: [waiting(4, longAgo)],
    },
    { kind: 'answerAgain', seq: 2, attempt: 2, closes: [3, 4] },
  ],
  [
    'tries no failure again while another turn is answered, however it asks',
    { guard: guardOf(2), known: failed({ seq: 2 }), open: turn({}), onBusy: 'interrupt' },
    { kind: 'busy', seq: 4, retryAfterMs: 5_000 },
  ],
  [
    'tries no failure again that a worker may be folding',
    {
      guard: guardOf(2),
      known: failed({ seq: 2 }),
      conversation: {
        ...conversation,
        compactionRequests: { auto: { requestId: 'r', since: now, trigger: 'auto' as const } },
      },
    },
    { kind: 'retryLater', seq: 2, retryAfterMs: 5_000 },
  ],
  [
    'begins a message that could not begin when its turn came, without a wait',
    {
      guard: guardOf(3),
      known: turn({
        seq: 3,
        state: 'failed',
        finishTime: now,
        error: { ...error(true), retryAfterMs: 3_600_000 },
        chosenModel: 'gemini-3-flash',
      }),
    },
    { kind: 'beginQueued', seq: 3, attempt: 2, closes: [] },
  ],
  [
    'replays a failure that another message has taken the place of',
    { guard, known: failed({ replacedBy: { t_5: true } }) },
    { kind: 'replay', seq: 4 },
  ],
  [
    'replays a failure to one who only reads',
    { guard, known: failed(), isReader: true },
    { kind: 'replay', seq: 4 },
  ],
  [
    'replays a failure that no retry can mend',
    { guard, known: turn({ state: 'failed', error: error(false) }) },
    { kind: 'replay', seq: 4 },
  ],
  [
    'refuses a known id with another body',
    { guard: { seq: 4, bodyHash: 'other' }, known: turn({ state: 'done' }) },
    { kind: 'keyReused', seq: 4 },
  ],
  [
    'refuses an id that is taken by no turn that can be read',
    { guard, known: undefined },
    { kind: 'keyReused', seq: 4 },
  ],
  [
    'is busy while another turn runs',
    { open: turn({}) },
    { kind: 'busy', seq: 4, retryAfterMs: 5_000 },
  ],
  [
    'closes an abandoned turn and starts the next',
    { open: turn({ leaseUntil: earlier }) },
    { kind: 'start', seq: 5, closes: [4] },
  ],
  [
    'waits with its own queued turn when somebody does already',
    { guard, known: waiting(4) },
    { kind: 'waiting', seq: 4 },
  ],
  [
    'waits again with its own queued turn when nobody does',
    { guard, known: waiting(4, earlier) },
    { kind: 'rejoin', seq: 4 },
  ],
  [
    'leaves a waiting message to its sender for a moment after its lease',
    { queue: [waiting(4, earlier)] },
    { kind: 'busy', seq: 4, retryAfterMs: 1_000 },
  ],
  [
    'waits behind a running turn when asked to',
    { open: turn({}), onBusy: 'queue' },
    { kind: 'enqueue', seq: 5 },
  ],
  [
    'is refused by a queue of cancelled messages that nobody could read any more',
    {
      conversation: { ...conversation, lastSeq: 1 + QUEUE_SPAN_MAX },
      open: turn({ seq: 1 }),
      queue: Array.from({ length: QUEUE_SPAN_MAX }, (_, i) =>
        turn({ seq: i + 2, state: 'cancelled' }),
      ),
      onBusy: 'queue',
    },
    { kind: 'queueFull', seq: 1, retryAfterMs: 5_000 },
  ],
  [
    'interrupts the newest first',
    { open: turn({ seq: 2 }), queue: [waiting(3), waiting(4)], onBusy: 'interrupt' },
    { kind: 'interrupt', seqs: [4, 3, 2], retryAfterMs: 5_000 },
  ],
  [
    'edits no answer',
    { replacing: { kind: 'edit', target: done(2), isAnswer: true } },
    { kind: 'notUserMessage' },
  ],
  [
    'edits at most as many turns as one batch holds',
    {
      conversation: { ...conversation, lastSeq: REPLACED_MAX },
      replacing: { kind: 'edit', target: done(1), isAnswer: false },
    },
    { kind: 'start', seq: REPLACED_MAX + 1, closes: [], replaces: 1 },
  ],
  [
    'edits no message further back',
    {
      conversation: { ...conversation, lastSeq: REPLACED_MAX + 1 },
      replacing: { kind: 'edit', target: done(1), isAnswer: false },
    },
    { kind: 'tooFarBack', replaced: REPLACED_MAX + 1 },
  ],
  [
    'regenerates no earlier answer',
    { replacing: { kind: 'regenerate', target: done(3), isAnswer: true } },
    { kind: 'notLastAnswer', lastSeq: 4 },
  ],
] satisfies [string, Partial<StartFacts>, object][])(
  'a send leads to: %s',
  (_, changes, decision) => {
    expect(decideStart(facts(changes))).toEqual(decision);
  },
);
