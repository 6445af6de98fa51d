import { decideSettle, type SettleFacts } from '#shared/compaction/settle-decision.ts';
import { describe, expect, test } from 'vitest';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const failed: SettleFacts = {
  kind: 'auto',
  state: 'FAILED_ERROR',
  isRetryable: true,
  attempts: 1,
  untilNextDayMs: 5 * HOUR_MS,
};

describe('settling a compaction request', () => {
  test.each<[string, Partial<SettleFacts>, object]>([
    ['a swap', { state: 'COMPACTED' }, { kind: 'clear' }],
    ['shortened outputs', { state: 'CONTENT_TRUNCATED' }, { kind: 'clear' }],
    ['nothing to do', { state: 'NOOP' }, { kind: 'clear' }],
    ['no saving', { state: 'FAILED_INFLATED_TOKEN_COUNT' }, { kind: 'clear' }],
    ['an error that will not pass', { isRetryable: false }, { kind: 'clear' }],
    ['an error that may pass', {}, { kind: 'retry', retryAfterMs: 10_000 }],
    ['its second time', { attempts: 2 }, { kind: 'retry', retryAfterMs: 30_000 }],
    ['its third time', { attempts: 3 }, { kind: 'clear' }],
    [
      'a longer wish of the model',
      { retryAfterMs: 99_000 },
      { kind: 'retry', retryAfterMs: 99_000 },
    ],
    [
      'a shorter wish of the model',
      { retryAfterMs: 3_000 },
      { kind: 'retry', retryAfterMs: 10_000 },
    ],
    [
      'an endless wish of the model',
      { retryAfterMs: 1e9 },
      { kind: 'retry', retryAfterMs: 600_000 },
    ],
    ['an empty summary', { state: 'FAILED_EMPTY_SUMMARY' }, { kind: 'retry' }],
    ['no count', { state: 'FAILED_TOKEN_COUNT_ERROR' }, { kind: 'retry' }],
    ['a poor summary', { state: 'FAILED_VERIFICATION' }, { kind: 'retry' }],
    ['a stop', { state: 'ABORTED' }, { kind: 'retry' }],
    ['a stop by its owner', { state: 'ABORTED', reason: 'CANCELLED_BY_USER' }, { kind: 'clear' }],
    ['a change meanwhile', { state: 'SUPERSEDED' }, { kind: 'retry', retryAfterMs: 1_000 }],
  ])('a compaction request is settled after %s', (_, facts, expected) => {
    expect(decideSettle({ ...failed, ...facts })).toMatchObject(expected);
  });

  test.each<[string, Partial<SettleFacts>, number]>([
    ['no longer than an hour', {}, HOUR_MS],
    ['no longer than the day lasts', { untilNextDayMs: 7 * MINUTE_MS }, 7 * MINUTE_MS],
    ['a minute where others hold the rest', { retryAfterMs: 5_000 }, MINUTE_MS],
    ['whoever asked', { kind: 'manual' }, HOUR_MS],
    ['however often it was tried', { attempts: 3 }, HOUR_MS],
  ])('a compaction request without budget waits %s', (_, facts, waitMs) => {
    for (const reason of ['USER_DAILY_USD', 'GLOBAL_BUDGET'])
      expect(decideSettle({ ...failed, state: 'NOOP', reason, ...facts })).toEqual({
        kind: 'wait',
        retryAfterMs: waitMs,
      });
  });

  test.each(['FAILED_ERROR', 'ABORTED', 'SUPERSEDED', 'NOOP', 'COMPACTED'] as const)(
    'a manual compaction request is settled by %s',
    (state) => {
      expect(decideSettle({ ...failed, kind: 'manual', state })).toEqual({ kind: 'clear' });
    },
  );
});
