import { freshJob, isStillTold, knownJob } from '#shared/conversation/documents/job.ts';
import { expect, test } from 'vitest';

const now = new Date(1_000_000);
const quiet = { epoch: 'e', generation: 2, settledRequest: 'r1', compactionRequests: {} };
const need = { requestId: 'r2', since: now };
const job = { ...freshJob };

const known = { epoch: 'e', generation: 2, settledRequest: 'r1', job };

test.each([
  { name: 'the same head', conversation: quiet, isTold: true },
  { name: 'another conversation', conversation: { ...quiet, epoch: 'f' }, isTold: false },
  { name: 'another generation', conversation: { ...quiet, generation: 3 }, isTold: false },
  {
    name: 'a need that came and went',
    conversation: { ...quiet, settledRequest: 'r2' },
    isTold: false,
  },
  {
    name: 'an automatic need',
    conversation: {
      ...quiet,
      compactionRequests: { auto: { ...need, trigger: 'auto' as const } },
    },
    isTold: false,
  },
  {
    name: 'a person’s request',
    conversation: { ...quiet, compactionRequests: { manual: need } },
    isTold: false,
  },
])('the known compaction job applies to $name: $isTold', ({ conversation, isTold }) => {
  expect(isStillTold(known, conversation)).toBe(isTold);
});

test('a job that is running or due is not cached', () => {
  const held = { ...job, owner: 'w', leaseUntil: new Date(now.getTime() + 1) };
  const waiting = { ...quiet, compactionRequests: { manual: need } };

  expect(knownJob(quiet, held, now)).toBeUndefined();
  expect(knownJob(waiting, job, now)).toBeUndefined();
  expect(knownJob(quiet, { ...held, leaseUntil: now }, now)).toBeDefined();
});
