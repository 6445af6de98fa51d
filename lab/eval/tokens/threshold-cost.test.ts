import { describe, expect, test } from 'vitest';
import { findPrice } from '#shared/models/find-price.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { callsToPay, costsOf } from './threshold-cost.ts';

const price = findPrice('gemini-3.8-flash', verifiedModels);

const recordingOf = (exchanges: number) => ({
  id: 'made-up',
  turns: Array.from({ length: 2 * exchanges }, (_, index) => ({
    role: index % 2 === 0 ? ('user' as const) : ('model' as const),
    parts: [{ text: 'The harbour is quiet in the morning. '.repeat(20) }],
  })),
});

const costOf = (thresholdTokens: number, hitFraction: number) =>
  costsOf(recordingOf(400), { thresholdTokens, price, cacheFromTokens: 4_096, hitFraction });

describe('what a threshold costs', () => {
  test('a conversation below it is never compacted', () => {
    expect(
      costsOf(recordingOf(3), {
        thresholdTokens: 24_000,
        price,
        cacheFromTokens: 4_096,
        hitFraction: 0,
      }),
    ).toMatchObject({ compactions: 0 });
  });

  test('no prompt is longer than the threshold and one exchange', () => {
    expect(costOf(8_000, 0).peakTokens).toBeLessThan(8_500);
  });

  test('less is compacted and more is read the higher it is', () => {
    const [low, high] = [costOf(8_000, 0), costOf(64_000, 0)];

    expect(low.compactions).toBeGreaterThan(high.compactions);
    expect(low.usdPerThousandCalls).toBeLessThan(high.usdPerThousandCalls);
  });

  test('a high one costs less the more prompts are cached', () => {
    expect(costOf(48_000, 0.9).usdPerThousandCalls).toBeLessThan(
      costOf(48_000, 0).usdPerThousandCalls / 2,
    );
  });

  test('a compaction pays for itself sooner the higher it is', () => {
    expect(callsToPay(48_000, { price })).toBeLessThan(callsToPay(12_000, { price }));
  });
});
