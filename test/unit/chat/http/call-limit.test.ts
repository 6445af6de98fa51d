import { expect, test } from 'vitest';
import { createCallLimit, withinCallLimit } from '#functions/chat/http/call-limit.ts';
import { AppError } from '#shared/lib/errors.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';

const limits = { USER_CALLS_AT_ONCE: 2, USER_CALLS_PER_MINUTE: 4 };

function limitOf(config: Partial<typeof limits> = {}, usersMax?: number) {
  const clock = createManualClock();
  return { clock, limit: createCallLimit({ ...limits, ...config }, clock, usersMax) };
}

test('a user has a limited number of calls a minute and is told when to retry', () => {
  const { limit, clock } = limitOf();
  for (let i = 0; i < limits.USER_CALLS_PER_MINUTE; i++) limit.begin('u1').end();
  clock.advance(20_000);

  expect(() => limit.begin('u1')).toThrow(
    expect.objectContaining({ reason: 'USER_CALLS', retryAfterMs: 40_000 }),
  );
  clock.advance(40_000);
  limit.begin('u1').end();
});

test.each([
  ['one that is wrong counts ten times', 'INVALID_ARGUMENT', 2],
  ['one for what is not there counts once', 'NOT_FOUND', 11],
] as const)('S6: a refused call has its price: %s', async (_, status, calls) => {
  const { limit } = limitOf({ USER_CALLS_PER_MINUTE: 11 });
  const target = { uid: 'u1', left: new AbortController().signal };
  const refuse = () =>
    withinCallLimit(limit, target, async () => {
      throw new AppError({ status, reason: 'BAD_FIELD', message: '', publicMessage: '' });
    });

  for (let i = 0; i < calls; i++) await expect(refuse()).rejects.toMatchObject({ status });

  await expect(refuse()).rejects.toMatchObject({ reason: 'USER_CALLS' });
});

test('the call limit remembers the users that called last, up to a bound', () => {
  const { limit } = limitOf({ USER_CALLS_AT_ONCE: 1 }, 2);
  for (const uid of ['u1', 'u2', 'u3']) limit.begin(uid);

  expect(() => limit.begin('u3')).toThrow(/callsAtOnce/u);
  limit.begin('u1');
});
