import {
  brakeAfter,
  brakeOn,
  jobBrakes,
  reachedSpendLimit,
  sizeBrakes,
  type Brake,
  type BrakeEffect,
} from '#shared/compaction/brake.ts';
import type { OutcomeState } from '#shared/compaction/outcome.ts';
import { resolvePolicy } from '#shared/compaction/policy.ts';
import type { Trigger } from '#shared/conversation/documents/conversation.ts';
import type { JobBrake, Pause, Spent } from '#shared/conversation/documents/job.ts';
import { describe, expect, test } from 'vitest';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const now = new Date('2026-03-01T10:00:00Z');
const inMinutes = (minutes: number) => new Date(now.getTime() + minutes * MINUTE_MS);

const triggers: Trigger[] = ['auto', 'modelSwitch', 'overflow', 'blocked', 'manual'];

describe('what a brake does to a request', () => {
  const none = ['-', '-', '-', '-', '-'];
  test.each<[Brake['reason'], string[]]>([
    // auto, modelSwitch, overflow, blocked, manual
    ['USER_DAILY_USD', ['waits', 'waits', 'waits', 'waits', 'waits']],
    ['GLOBAL_BUDGET', ['waits', 'waits', 'waits', 'waits', 'waits']],
    ['RETRY_LATER', ['waits', 'waits', 'waits', 'waits', '-']],
    ['NO_PROGRESS', ['ends', 'ends', 'ends', '-', '-']],
    ['DECLINED', ['ends', '-', '-', '-', '-']],
    ['NOT_ARMED', ['ends', '-', '-', '-', '-']],
    ['SPEND_LIMIT', ['withoutModel', 'withoutModel', 'withoutModel', 'ends', 'ends']],
    ['BREAKER_OPEN', ['withoutModel', 'withoutModel', 'withoutModel', '-', '-']],
  ])('a compaction brake of %s, by what asks', (reason, expected) => {
    const effectOn = (trigger: Trigger, brake: Omit<Brake, 'reason'>): BrakeEffect | '-' =>
      brakeOn([{ reason, ...brake }], { trigger, now, tokens: 10_000 })?.effect ?? '-';

    expect(triggers.map((trigger) => effectOn(trigger, { until: inMinutes(1) }))).toEqual(expected);
    expect(triggers.map((trigger) => effectOn(trigger, { until: now }))).toEqual(none);
  });

  test.each<[string, Omit<Brake, 'reason'>, boolean]>([
    ['before its time', { until: inMinutes(1) }, true],
    ['at its time', { until: now }, false],
    ['below its size', { fromTokens: 10_001 }, true],
    ['at its size', { fromTokens: 10_000 }, false],
    ['before both', { until: inMinutes(1), fromTokens: 10_001 }, true],
    ['at its time, below its size', { until: now, fromTokens: 10_001 }, false],
    ['before its time, at its size', { until: inMinutes(1), fromTokens: 10_000 }, false],
  ])('a compaction brake %s: holds = %s', (...[, brake, isHeld]) => {
    const braked = brakeOn([{ reason: 'BREAKER_OPEN', ...brake }], {
      trigger: 'auto',
      now,
      tokens: 10_000,
    });

    expect(braked !== undefined).toBe(isHeld);
  });
});

describe('compaction brakes that end when the context has grown', () => {
  const policy = resolvePolicy({
    model: 'gemini-2.5-flash',
    conversation: { thresholdTokens: 10_000 },
  });
  const swapped = { generation: 1, afterTokens: 5_000 };
  const declined = { tokens: 12_000, generation: 1 };

  test.each<
    [string, Parameters<typeof sizeBrakes>[0]['history'], typeof declined | undefined, object[]]
  >([
    ['a swap', swapped, undefined, [{ reason: 'NOT_ARMED', fromTokens: 7_500 }]],
    [
      'a part was swapped, and got on',
      { ...swapped, isPartial: true, unproductiveSwaps: 1 },
      undefined,
      [],
    ],
    [
      'two swaps without progress',
      { ...swapped, unproductiveSwaps: 2 },
      undefined,
      [{ reason: 'NO_PROGRESS', fromTokens: 7_500 }],
    ],
    [
      'one was called off since the swap',
      swapped,
      declined,
      [
        { reason: 'NOT_ARMED', fromTokens: 7_500 },
        { reason: 'DECLINED', fromTokens: 14_500 },
      ],
    ],
    [
      'the first one was called off',
      undefined,
      { ...declined, generation: 0 },
      [{ reason: 'DECLINED', fromTokens: 14_500 }],
    ],
  ])('the size that lets a compaction begin: %s', (_, history, calledOff, expected) => {
    expect(sizeBrakes({ history, declined: calledOff, policy })).toEqual(expected);
  });
});

describe('what a conversation may spend on compactions', () => {
  const allowance = { runsPerHour: 4, dailyTokens: 1_000 };
  const spent = (changes: Partial<Spent>): Spent => ({
    hourSince: inMinutes(-20),
    runs: 1,
    daySince: inMinutes(-600),
    tokens: 10,
    ...changes,
  });

  test.each([
    ['fewer runs than the limit', spent({ runs: 3 }), undefined],
    ['as many runs', spent({ runs: 4 }), { limit: 'RUNS_PER_HOUR', until: inMinutes(40) }],
    ['as many tokens', spent({ tokens: 1_000 }), { limit: 'DAILY_TOKENS', until: inMinutes(840) }],
    [
      'both: the longer wait counts',
      spent({ runs: 4, tokens: 1_000 }),
      { limit: 'DAILY_TOKENS', until: inMinutes(840) },
    ],
    ['tokens of the day before', spent({ tokens: 5_000, daySince: inMinutes(-1_440) }), undefined],
  ])('a conversation’s spending limit for compactions: %s', (_, given, expected) => {
    expect(reachedSpendLimit(given, allowance, now)).toEqual(expected);
    expect(jobBrakes({ failures: 0, spent: given }, allowance, now)).toEqual(
      expected ? [{ reason: 'SPEND_LIMIT', until: expected.until }] : [],
    );
  });
});

describe('the brake that an outcome leaves', () => {
  const policy = { breakerFailures: 3, breakerOpenMs: 30 * MINUTE_MS, onlyInflationCounts: false };
  const settled = {
    now,
    tokens: 11_000,
    overheadTokens: 1_000,
    policy,
    retryAfterMs: undefined,
  };
  const outcome = (state: OutcomeState, trigger: Trigger = 'auto', reason?: string) => ({
    state,
    trigger,
    reason,
    isWithoutModel: false,
  });
  const open: Pause = { reason: 'BREAKER_OPEN', until: inMinutes(30), fromTokens: 16_000 };
  const isOpen: JobBrake = { failures: 3, pause: open };

  const spent: Spent = { hourSince: now, runs: 1, daySince: now, tokens: 1 };
  const retried = { ...settled, retryAfterMs: 10_000 };
  const retry: Pause = { reason: 'RETRY_LATER', until: new Date(now.getTime() + 10_000) };
  const unpaid: Pause = { reason: 'USER_DAILY_USD', until: inMinutes(60) };

  test.each<
    [string, JobBrake, Parameters<typeof brakeAfter>[1], typeof settled | typeof retried, JobBrake]
  >([
    [
      'opens at the third failure in a row',
      { failures: 2, spent },
      outcome('FAILED_ERROR'),
      settled,
      { ...isOpen, spent },
    ],
    [
      'waits between two attempts',
      { failures: 0 },
      outcome('FAILED_ERROR'),
      retried,
      { failures: 1, pause: retry },
    ],
    ['stays open after a stop', isOpen, outcome('ABORTED'), retried, isOpen],
    ['ignores a failed manual run', isOpen, outcome('FAILED_ERROR', 'manual'), settled, isOpen],
    [
      'is released by a manual run',
      { ...isOpen, spent },
      outcome('COMPACTED', 'manual'),
      settled,
      { failures: 0, spent },
    ],
    [
      'stays when code alone compacts',
      isOpen,
      { ...outcome('COMPACTED'), isWithoutModel: true },
      settled,
      isOpen,
    ],
    [
      'does not count a summary that saves too little',
      { failures: 2 },
      outcome('FAILED_INFLATED_TOKEN_COUNT', 'auto', 'SAVES_TOO_LITTLE'),
      settled,
      { failures: 2 },
    ],
    [
      'waits for dollars, whoever asked',
      { failures: 1 },
      outcome('NOOP', 'manual', 'USER_DAILY_USD'),
      { ...settled, retryAfterMs: HOUR_MS },
      { failures: 1, pause: unpaid },
    ],
  ])('the compaction brake %s', (_, before, given, next, expected) => {
    expect(brakeAfter(before, given, next)).toEqual(expected);
  });
});
