import { describe, expect, test } from 'vitest';
import { retryWhenLost } from '#functions/lib/retry-when-lost.ts';
import { GuardLostError, StoreUnavailableError } from '#shared/errors.ts';

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

describe('what loses its guards', () => {
  test('is done anew, after a little longer each time', async () => {
    const { result, waits } = losing(12);

    expect(await result).toBe(13);
    expect(waits).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 100, 100]);
  });

  test('is given up after its bound, with an error that says how often and what', async () => {
    const { result, tries, waits } = losing(Infinity, 3);

    await expect(result).rejects.toMatchObject({
      reason: 'GUARD_LOST',
      retryable: true,
      message: 'commit of 1 writes lost a guard 3 times in a row (conversations/c1)',
      cause: expect.any(GuardLostError),
    });
    expect([tries(), waits.length]).toEqual([3, 2]);
  });

  test('is given up after 25 times by itself', async () => {
    const { result, tries } = losing(Infinity);

    await expect(result).rejects.toThrow('25 times in a row');
    expect(tries()).toBe(25);
  });
});

test('any other failure is thrown at once', async () => {
  const failure = new StoreUnavailableError({ operation: 'commit' });
  let tries = 0;
  const attempt = () => {
    tries += 1;
    return Promise.reject(failure);
  };

  await expect(retryWhenLost({ wait: () => Promise.resolve() }, attempt)).rejects.toBe(failure);
  expect(tries).toBe(1);
});
