import { decideCancel, type CancelFacts } from '#shared/compaction/claim-decision.ts';
import { jobWith, record } from '#test/support/compaction/past-compactions.ts';
import { expect, test } from 'vitest';

const now = new Date('2026-01-02T03:04:05.000Z');
const since = new Date('2026-01-02T03:04:00.000Z');
const manual = { requestId: 'm', since };
const auto = { requestId: 'a', since, trigger: 'auto' } as const;

const held = (requestId: string, leaseForMs = 1_000) =>
  jobWith({ owner: 'w', requestId, leaseUntil: new Date(now.getTime() + leaseForMs) });

test.each<[string, Partial<CancelFacts>, object]>([
  ['no such job', {}, { kind: 'unknown' }],
  [
    'a manual request that waits',
    { conversation: { compactionRequests: { manual } }, jobId: 'm' },
    { kind: 'queued', request: { kind: 'manual', requestId: 'm' } },
  ],
  [
    'an automatic one that waits',
    { conversation: { compactionRequests: { auto } }, jobId: 'a' },
    { kind: 'queued', request: { kind: 'auto', trigger: 'auto' } },
  ],
  [
    'one that waits while another runs',
    { conversation: { compactionRequests: { auto, manual } }, job: held('a'), jobId: 'm' },
    { kind: 'queued' },
  ],
  [
    'one that runs',
    { conversation: { compactionRequests: { auto } }, job: held('a'), jobId: 'a' },
    { kind: 'running', isTold: false },
  ],
  [
    'one that runs and was called off before',
    { conversation: { compactionRequests: { auto, cancel: 'a' } }, job: held('a'), jobId: 'a' },
    { kind: 'running', isTold: true },
  ],
  [
    'one whose worker died',
    { conversation: { compactionRequests: { auto } }, job: held('a', 0), jobId: 'a' },
    { kind: 'queued' },
  ],
  [
    'one that has ended',
    {
      job: jobWith({ records: [record(1, { requestId: 'x', state: 'COMPACTED' })] }),
      jobId: 'x',
    },
    { kind: 'ended', state: 'COMPACTED' },
  ],
  [
    'one that failed and waits for its next attempt',
    {
      conversation: { compactionRequests: { auto } },
      job: jobWith({ records: [record(1, { requestId: 'a', state: 'FAILED_ERROR' })] }),
      jobId: 'a',
    },
    { kind: 'queued' },
  ],
])('cancelling a compaction: %s', (_, facts, expected) => {
  const all = {
    conversation: { compactionRequests: {} },
    job: undefined,
    jobId: 'm',
    now,
    ...facts,
  };

  expect(decideCancel(all)).toMatchObject(expected);
});
