import { expect, test } from 'vitest';
import { retryDelayMs } from '#functions/adapters/gemini/gemini-retry.ts';
import { AppError } from '#shared/errors.ts';

const failure = (reason: string, retryAfterMs?: number) =>
  new AppError({ status: 'UNAVAILABLE', reason, message: '', publicMessage: '', retryAfterMs });

test.each([
  { reason: 'MODEL_OVERLOADED', attempt: 0, draw: 1, delayMs: 250 },
  { reason: 'MODEL_OVERLOADED', attempt: 1, draw: 0.5, delayMs: 250 },
  { reason: 'MODEL_OVERLOADED', attempt: 2, draw: 0.5, delayMs: undefined },
  { reason: 'MODEL_QUOTA', attempt: 0, draw: 1, delayMs: 250 },
  { reason: 'MODEL_QUOTA', askedMs: 3_000, attempt: 0, draw: 0, delayMs: 3_000 },
  { reason: 'MODEL_QUOTA', askedMs: 10_000, attempt: 1, draw: 0.5, delayMs: 10_250 },
  { reason: 'MODEL_QUOTA', askedMs: 10_001, attempt: 0, draw: 0, delayMs: undefined },
  { reason: 'MODEL_TIMEOUT', attempt: 0, draw: 0, delayMs: undefined },
  { reason: 'MODEL_REFUSED_REQUEST', attempt: 0, draw: 0, delayMs: undefined },
])(
  'the retry delay after $reason (asked for $askedMs ms), attempt $attempt, is $delayMs ms',
  (example) => {
    const { reason, askedMs, attempt, draw, delayMs } = example;

    expect(retryDelayMs(failure(reason, askedMs), attempt, draw)).toBe(delayMs);
  },
);
