import { decideSettle, type SettleFacts } from '#shared/compaction/request-decisions.ts';
import { decideSwap, type SwapFacts } from '#shared/compaction/swap-decision.ts';
import { expect, test } from 'vitest';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const failed: SettleFacts = {
  kind: 'auto',
  state: 'FAILED_ERROR',
  isRetryable: true,
  attempts: 1,
  untilNextDayMs: 5 * HOUR_MS,
};

test.each<[string, Partial<SettleFacts>, object]>([
  ['a swap', { state: 'COMPACTED' }, { kind: 'clear' }],
  ['no saving', { state: 'FAILED_INFLATED_TOKEN_COUNT' }, { kind: 'clear' }],
  ['an error that will not pass', { isRetryable: false }, { kind: 'clear' }],
  ['an error that may pass', {}, { kind: 'retry', retryAfterMs: 10_000 }],
  ['its second time', { attempts: 2 }, { kind: 'retry', retryAfterMs: 30_000 }],
  ['its third time', { attempts: 3 }, { kind: 'clear' }],
  ['a longer wish of the model', { retryAfterMs: 99_000 }, { kind: 'retry', retryAfterMs: 99_000 }],
  ['an endless wish of the model', { retryAfterMs: 1e9 }, { kind: 'retry', retryAfterMs: 600_000 }],
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

const base: SwapFacts = {
  beforeTokens: 1_000,
  afterTokens: 400,
  policy: { minimumSavingFraction: 0.3, minimumSavingTokens: 0, acceptsEqualSize: false },
  trigger: 'auto',
};
const peer = { minimumSavingFraction: 0, minimumSavingTokens: 0, acceptsEqualSize: true };
const quarter = { ...base.policy, minimumSavingTokens: 500 };

test.each<[string, Partial<SwapFacts>, string]>([
  ['a sound snapshot that saves', {}, 'SWAP'],
  ['saves exactly 30 %', { afterTokens: 700 }, 'SWAP'],
  ['saves less than 30 %', { afterTokens: 701 }, 'FAILED_INFLATED_TOKEN_COUNT SAVES_TOO_LITTLE'],
  ['saves 30 % of what is not overhead', { afterTokens: 850, overheadTokens: 500 }, 'SWAP'],
  [
    'saves 30 % but for a function told of now',
    { afterTokens: 800, addedOverheadTokens: 100 },
    'SWAP',
  ],
  ['saves exactly a quarter of the threshold', { policy: quarter, afterTokens: 500 }, 'SWAP'],
  [
    'saves less than a quarter of the threshold',
    { policy: quarter, afterTokens: 501 },
    'FAILED_INFLATED_TOKEN_COUNT SAVES_TOO_LITTLE',
  ],
  ['folds a part, saves one token', { isPartial: true, afterTokens: 999 }, 'SWAP'],
  ['after an overflow, saves one token', { trigger: 'overflow', afterTokens: 999 }, 'SWAP'],
  [
    'after an overflow, equal size',
    { trigger: 'overflow', afterTokens: 1_000 },
    'FAILED_INFLATED_TOKEN_COUNT NOT_SMALLER',
  ],
  ['by hand, saves one token', { trigger: 'manual', afterTokens: 999 }, 'SWAP'],
  ['profile gemini-cli, equal size', { policy: peer, afterTokens: 1_000 }, 'SWAP'],
  [
    'profile gemini-cli, larger',
    { policy: peer, afterTokens: 1_001 },
    'FAILED_INFLATED_TOKEN_COUNT NOT_SMALLER',
  ],
  ['before not countable', { beforeTokens: null }, 'FAILED_TOKEN_COUNT_ERROR TOKEN_COUNT'],
  ['after not a number', { afterTokens: Number.NaN }, 'FAILED_TOKEN_COUNT_ERROR TOKEN_COUNT'],
])('the swap decision: %s', (_, facts, expected) => {
  const decision = decideSwap({ ...base, ...facts });

  expect(decision.swap ? 'SWAP' : `${decision.state} ${decision.reason}`).toBe(expected);
});
