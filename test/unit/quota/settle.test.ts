import { expect, test } from 'vitest';
import { noUsage, takenBy, usageAfterCall } from '#shared/quota/usage.ts';

const now = new Date('2026-01-02T12:00:00.000Z');
const own = {
  id: 'c/m',
  conversation: 'c',
  attempt: 1,
  tokens: 700,
  costMicros: 70,
  holders: ['request'],
  since: now,
  until: new Date('2026-01-02T12:01:00Z'),
};
const usage = { promptTokens: 1_000, cachedTokens: 800, outputTokens: 50, thoughtsTokens: 25 };

test.each([
  [
    'uncached input and output, thoughts included',
    { usage, costMicros: 9, isMessage: true },
    { messages: 1, tokens: 275, costMicros: 9 },
  ],
  [
    'what is reported, though more was cached than read',
    { usage: { ...usage, cachedTokens: 2_000 }, isMessage: true },
    { messages: 1, tokens: 75, costMicros: 0 },
  ],
])('a settled call counts %s', (_, spending, taken) => {
  expect(takenBy(spending, own)).toEqual(taken);
});

test.each(['compactions', 'titles', 'routing', 'condensing'] as const)(
  'a settled call by %s is counted apart from messages and tokens',
  (work) => {
    const other = { id: 'other', costMicros: 5, until: now };
    const before = { ...noUsage, held: [{ id: 'first', costMicros: 7, until: now }, other] };
    const call = { work, isMore: false, id: 'first', tokens: 30_000, costMicros: 900 };

    const after = usageAfterCall(before, call);

    expect(after).toEqual({
      ...noUsage,
      [work]: { runs: 1, tokens: 30_000, costMicros: 900 },
      held: [other],
    });
    expect(usageAfterCall(after, { ...call, isMore: true })[work]).toEqual({
      runs: 1,
      tokens: 60_000,
      costMicros: 1_800,
    });
  },
);
