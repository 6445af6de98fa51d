import { retryWhenLost } from '#functions/lib/retry.ts';
import { readTrace } from '#functions/lib/trace.ts';
import { GuardLostError } from '#shared/lib/errors.ts';
import { expect, test } from 'vitest';

/** Loses its guard so often, then gives how often it was tried. */
function losing(losses: number, mostTries?: number) {
  const waits: number[] = [];
  let tries = 0;
  const clock = { wait: (ms: number) => Promise.resolve(void waits.push(ms)) };
  const attempt = () => {
    tries += 1;
    return tries > losses
      ? Promise.resolve(tries)
      : Promise.reject(new GuardLostError({ paths: ['conversations/c1'] }));
  };
  return { waits, tries: () => tries, result: retryWhenLost(clock, attempt, mostTries) };
}

test('a transaction that loses its guards is retried after growing delays', async () => {
  const { result, waits } = losing(12);

  expect(await result).toBe(13);
  expect(waits).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 100, 100]);
});

test('a transaction that loses its guards too often fails with count and subject', async () => {
  const { result, tries, waits } = losing(Infinity, 3);

  await expect(result).rejects.toMatchObject({
    reason: 'GUARD_LOST',
    retryable: true,
    message: 'commit of 1 writes lost a guard 3 times in a row (conversations/c1)',
    cause: expect.any(GuardLostError),
  });
  expect([tries(), waits.length]).toEqual([3, 2]);
});

const id = '4bf92f3577b34da6a3ce929d0e0e4736';

test.each([
  ['as W3C writes it', `00-${id}-00f067aa0ba902b7-01`],
  ['of a later version', `cc-${id}-00f067aa0ba902b7-01-more`],
])('the trace header %s is read', (_, header) => {
  const traceparent = `00-${id}-00f067aa0ba902b7-01`;

  expect(readTrace(header)).toEqual({ traceId: id, traceparent });
});

test.each([
  '',
  'broken',
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-${id}-${'0'.repeat(16)}-01`,
  `ff-${id}-00f067aa0ba902b7-01`,
  `00-${id.toUpperCase()}-00f067aa0ba902b7-01`,
  `00-${id}-00f067aa0ba902b7-01 and more`,
])('the trace header %j is ignored', (header) => {
  expect(readTrace(header)).toBeUndefined();
});
