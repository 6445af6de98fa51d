import { describe, expect, test } from 'vitest';
import {
  type QuotaLimits,
  decideReservation,
  withoutHolder,
} from '#shared/quota/reserve-decision.ts';
import { noUsage, type OpenReservation, type Usage } from '#shared/quota/usage.ts';

const now = new Date('2026-01-02T12:00:00.000Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const unlimited: QuotaLimits = {
  messagesPerDay: 0,
  tokensPerDay: 0,
  requestsPerMinute: 0,
  creationsPerDay: 0,
  streams: 0,
  costMicrosPerDay: 0,
};
const wanted = {
  id: 'c/m',
  conversation: 'c',
  attempt: 1,
  holder: 'request',
  tokens: 100,
  costMicros: 10,
};
/** The same as it stands in the document. */
const entered = {
  id: 'c/m',
  conversation: 'c',
  attempt: 1,
  tokens: 100,
  costMicros: 10,
  holders: ['request'],
  since: now,
};
const reservation = (fields: Partial<OpenReservation> = {}): OpenReservation => ({
  id: 'c/other',
  conversation: 'd',
  attempt: 1,
  tokens: 400,
  costMicros: 40,
  holders: ['other'],
  since: now,
  until: later(60_000),
  ...fields,
});

const held = (costMicros: number) => ({
  id: `call-${costMicros}`,
  costMicros,
  until: later(60_000),
});

const decide = (limits: Partial<QuotaLimits>, usage: Partial<Usage>) =>
  decideReservation({
    usage: { ...noUsage, ...usage },
    limits: { ...unlimited, ...limits },
    wanted,
    abandoned: [],
    holdMs: 320_000,
    now,
  });

test.each<[string, [Partial<QuotaLimits>, Partial<Usage>], boolean]>([
  ['is refused above the messages', [{ messagesPerDay: 3 }, { messages: 3 }], false],
  [
    'counts messages on their way',
    [{ messagesPerDay: 3 }, { messages: 2, open: [reservation()] }],
    false,
  ],
  ['is refused above the tokens', [{ tokensPerDay: 500 }, { tokens: 401 }], false],
  [
    'counts tokens on their way',
    [{ tokensPerDay: 500 }, { tokens: 1, open: [reservation()] }],
    false,
  ],
  ['takes the last cents', [{ costMicrosPerDay: 50 }, { open: [reservation()] }], true],
  ['is refused above the cents', [{ costMicrosPerDay: 49 }, { open: [reservation()] }], false],
  [
    'counts what compactions cost',
    [{ costMicrosPerDay: 50 }, { compactions: { runs: 1, tokens: 1_000, costMicros: 41 } }],
    false,
  ],
  [
    'is not held up by one compaction on its way, whatever that may cost',
    [{ costMicrosPerDay: 50 }, { costMicros: 40, held: [held(9_000)] }],
    true,
  ],
  [
    'counts what a second one holds',
    [{ costMicrosPerDay: 50 }, { costMicros: 40, held: [held(9_000), held(1)] }],
    false,
  ],
  ['is refused above the streams', [{ streams: 1 }, { open: [reservation()] }], false],
  ['is refused above the minute', [{ requestsPerMinute: 1 }, { begun: [later(-59_999)] }], false],
  ['forgets the minute before', [{ requestsPerMinute: 1 }, { begun: [later(-60_000)] }], true],
  [
    'is not held up by what expired',
    [{ streams: 1 }, { open: [reservation({ until: now })] }],
    true,
  ],
])('a quota reservation: %s', (_, [limits, usage], isReserved) => {
  expect(decide(limits, usage).kind).toBe(isReserved ? 'reserved' : 'refused');
});

test('a reservation is not delayed long by entries of a clock far ahead', () => {
  const begun = [later(10 * 60_000)];

  expect(decide({ requestsPerMinute: 1 }, { begun }).kind).toBe('reserved');
});

describe('a reservation that a request gives up', () => {
  const other = reservation();
  const usage = {
    ...noUsage,
    open: [{ ...entered, until: later(320_000) }, other],
    begun: [later(-9), now],
  };

  test('it goes, and with it its place in the minute', () => {
    expect(withoutHolder(usage, wanted)).toEqual({ ...usage, open: [other], begun: [later(-9)] });
  });

  test('it stays while another request of the same message holds it', () => {
    const decision = decideReservation({
      usage,
      limits: unlimited,
      wanted: { ...wanted, holder: 'second' },
      abandoned: [],
      holdMs: 320_000,
      now,
    });
    const shared = decision.kind === 'reserved' ? decision.usage : noUsage;

    const left = withoutHolder(shared, wanted);

    expect(left.open).toContainEqual(
      expect.objectContaining({ id: wanted.id, holders: ['second'] }),
    );
    expect(left.begun).toEqual(usage.begun);
    expect(withoutHolder(left, { ...wanted, holder: 'second' }).open).toEqual([other]);
  });
});
