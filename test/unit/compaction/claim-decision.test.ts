import {
  decideClaim,
  waitingRequest,
  type ClaimFacts,
} from '#shared/compaction/request-decisions.ts';
import type { CompactionRecord, Pause } from '#shared/conversation/documents/job.ts';
import { jobWith } from '#test/support/compaction/past-compactions.ts';
import { describe, expect, test } from 'vitest';

const now = new Date('2026-01-02T03:04:05.000Z');
const inOneSecond = new Date(now.getTime() + 1_000);
const oneSecondAgo = new Date(now.getTime() - 1_000);

const auto = { requestId: 'a-1', since: oneSecondAgo, trigger: 'auto' as const };
const manual = { requestId: 'm-1', since: oneSecondAgo };

const idleJob = jobWith({ leaseUntil: oneSecondAgo, fence: 4, requestId: 'a-1' });

const recordOf = (requestId: string, state: string): CompactionRecord => ({
  requestId,
  state,
  trigger: 'auto',
  requestedAt: oneSecondAgo,
  finishedAt: oneSecondAgo,
  beforeTokens: 10,
  afterTokens: 10,
  turnsFolded: 0,
  modelCalls: 0,
  durationMs: 1,
});

const due: ClaimFacts = {
  now,
  conversation: { state: 'live', compactionRequests: { auto } },
  job: idleJob,
  isOverThreshold: true,
  tokens: 10_000,
  sizeBrakes: [],
  allowance: { runsPerHour: 6, dailyTokens: 0 },
};
const stuck = { reason: 'NO_PROGRESS' as const, fromTokens: 10_001 };
const paused = (reason: Pause['reason'], until = inOneSecond) => ({
  failures: 0,
  pause: { reason, until },
});
const attempts = (requestId: string, count: number) => ({ auto: { requestId, count } });
const conversationWith = (
  compactionRequests: NonNullable<ClaimFacts['conversation']>['compactionRequests'],
) => ({
  state: 'live' as const,
  compactionRequests,
});

test.each<[string, Partial<ClaimFacts>, object]>([
  ['no conversation', { conversation: undefined }, { kind: 'nothing', reason: 'NOT_LIVE' }],
  ['a need and a free job', {}, { kind: 'claim', attempt: 1 }],
  [
    'a lease that another holds',
    { job: { ...idleJob, owner: 'other', leaseUntil: inOneSecond } },
    { kind: 'later', reason: 'LEASE_HELD' },
  ],
  [
    'an expired lease after one attempt',
    { job: { ...idleJob, owner: 'other', attempts: attempts('a-1', 1) } },
    { kind: 'claim', attempt: 2 },
  ],
  [
    'two attempts at this need and one at a manual one since',
    {
      job: {
        ...idleJob,
        requestId: 'm-0',
        attempts: { ...attempts('a-1', 2), manual: { requestId: 'm-0', count: 1 } },
      },
    },
    { kind: 'claim', attempt: 3 },
  ],
  [
    'three attempts at this need',
    { job: { ...idleJob, attempts: attempts('a-1', 3) } },
    { kind: 'outcome', state: 'FAILED_ERROR', reason: 'ATTEMPTS_USED_UP' },
  ],
  [
    'a back-off that has not passed',
    { job: { ...idleJob, attempts: attempts('a-1', 1), brake: paused('RETRY_LATER') } },
    { kind: 'later', reason: 'RETRY_LATER', retryAfterMs: 1_000 },
  ],
  [
    'a context below the threshold',
    { isOverThreshold: false },
    { kind: 'outcome', state: 'NOOP', reason: 'BELOW_THRESHOLD' },
  ],
  [
    'an owner who called it off',
    { conversation: conversationWith({ auto, cancel: auto.requestId }) },
    { kind: 'outcome', state: 'ABORTED', reason: 'CANCELLED_BY_USER' },
  ],
  [
    'a swap that was recorded before a crash',
    { job: { ...idleJob, records: [recordOf('a-1', 'COMPACTED')] } },
    { kind: 'settled' },
  ],
  [
    'a failure that was recorded',
    {
      job: {
        ...idleJob,
        attempts: attempts('a-1', 1),
        records: [recordOf('a-1', 'FAILED_ERROR')],
      },
    },
    { kind: 'claim', attempt: 2 },
  ],
])('a delivery leads to: %s', (_, facts, expected) => {
  expect(decideClaim({ ...due, ...facts })).toMatchObject(expected);
});

describe('a manual request', () => {
  const asked = { ...due, conversation: conversationWith({ manual }) };

  test('a manual compaction request ignores threshold, arming, breaker and back-off', () => {
    const decision = decideClaim({
      ...asked,
      isOverThreshold: false,
      sizeBrakes: [stuck, { reason: 'DECLINED', fromTokens: 10_001 }],
      job: { ...idleJob, brake: paused('RETRY_LATER') },
    });

    expect(decision).toMatchObject({ kind: 'claim' });
    expect(decision).not.toHaveProperty('refusal');
  });

  test('a manual compaction request precedes an automatic one', () => {
    expect(waitingRequest({ compactionRequests: { auto, manual } })).toMatchObject({
      kind: 'manual',
      trigger: 'manual',
      requestId: 'm-1',
    });
  });
});

test.each([
  ['overflow', 'claim'],
  ['modelSwitch', 'outcome'],
] as const)('an automatic trigger %s below the threshold leads to %s', (trigger, kind) => {
  const conversation = conversationWith({ auto: { ...auto, trigger } });

  expect(decideClaim({ ...due, conversation, isOverThreshold: false }).kind).toBe(kind);
});
