import { expect, test } from 'vitest';
import { createCallLimit } from '#functions/chat/http/call-limit.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';

const limits = { USER_CALLS_AT_ONCE: 2, USER_CALLS_PER_MINUTE: 4 };

function limitOf(config: Partial<typeof limits> = {}, usersMax?: number) {
  const clock = createManualClock();
  return { clock, limit: createCallLimit({ ...limits, ...config }, clock, usersMax) };
}

test('a user has a limited number of parallel calls, and another when one ends', () => {
  const { limit } = limitOf();
  const end = limit.begin('u1');
  limit.begin('u1');

  expect(() => limit.begin('u1')).toThrow(/callsAtOnce: 2/u);
  limit.begin('u2');
  end();
  end();
  limit.begin('u1');
  expect(() => limit.begin('u1')).toThrow(/callsAtOnce: 2/u);
});

test('a user has a limited number of calls a minute and is told when to retry', () => {
  const { limit, clock } = limitOf();
  for (let i = 0; i < limits.USER_CALLS_PER_MINUTE; i++) limit.begin('u1')();
  clock.advance(20_000);

  expect(() => limit.begin('u1')).toThrow(
    expect.objectContaining({ reason: 'USER_CALLS', retryAfterMs: 40_000 }),
  );
  clock.advance(40_000);
  limit.begin('u1')();
});

test('a call limit of 0 means no limit', () => {
  const { limit } = limitOf({ USER_CALLS_AT_ONCE: 0, USER_CALLS_PER_MINUTE: 0 });

  const thousand = () => {
    for (let i = 0; i < 1_000; i++) limit.begin('u1');
  };

  expect(thousand).not.toThrow();
});

test('the call limit remembers the users that called last, up to a bound', () => {
  const { limit } = limitOf({ USER_CALLS_AT_ONCE: 1 }, 2);
  for (const uid of ['u1', 'u2', 'u3']) limit.begin(uid);

  expect(() => limit.begin('u3')).toThrow(/callsAtOnce/u);
  limit.begin('u1');
});
