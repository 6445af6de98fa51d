import { expect, test } from 'vitest';
import { createCallLimit } from '#functions/chat/http/call-limit.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';

const limits = { USER_CALLS_AT_ONCE: 2, USER_CALLS_PER_MINUTE: 4 };

function limitOf(config: Partial<typeof limits> = {}, usersMax?: number) {
  const clock = createManualClock();
  return { clock, limit: createCallLimit({ ...limits, ...config }, clock, usersMax) };
}

test('a user has as many calls at once as may, and the next when one of them has ended', () => {
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

test('a user makes as many calls in a minute as may, and is told when the next may come', () => {
  const { limit, clock } = limitOf();
  for (let i = 0; i < limits.USER_CALLS_PER_MINUTE; i++) limit.begin('u1')();
  clock.advance(20_000);

  expect(() => limit.begin('u1')).toThrow(
    expect.objectContaining({ reason: 'USER_CALLS', retryAfterMs: 40_000 }),
  );
  clock.advance(40_000);
  limit.begin('u1')();
});

test('0 is no limit', () => {
  const { limit } = limitOf({ USER_CALLS_AT_ONCE: 0, USER_CALLS_PER_MINUTE: 0 });

  const thousand = () => {
    for (let i = 0; i < 1_000; i++) limit.begin('u1');
  };

  expect(thousand).not.toThrow();
});

test('of more users than are remembered, those that called last are counted', () => {
  const { limit } = limitOf({ USER_CALLS_AT_ONCE: 1 }, 2);
  for (const uid of ['u1', 'u2', 'u3']) limit.begin(uid);

  expect(() => limit.begin('u3')).toThrow(/callsAtOnce/u);
  limit.begin('u1');
});
