import { drawVariant, variantsSchema } from '#shared/compaction/policy-settings.ts';
import { expect, test } from 'vitest';

const variants = variantsSchema.parse({
  small: { share: 0.2, thresholdTokens: 12_000 },
  peer: { share: 0.3, strategy: 'gemini-cli', tailTokens: 900 },
});

const KEYS = Array.from({ length: 10_000 }, (_, n) => `conversation-${n}`);
const shareOf = (name: string | undefined) =>
  KEYS.filter((key) => drawVariant(variants, key)?.name === name).length / KEYS.length;

test.each([
  ['small', 0.2],
  ['peer', 0.3],
  [undefined, 0.5],
])('the variant of a conversation: %s has its share', (name, share) => {
  expect(shareOf(name)).toBeCloseTo(share, 1);
  expect(Math.abs(shareOf(name) - share)).toBeLessThan(0.02);
});

test('the variant of a conversation changes its settings and strategy alone', () => {
  const key = KEYS.find((each) => drawVariant(variants, each)?.name === 'peer') ?? '';

  expect(drawVariant(variants, key)).toEqual({
    name: 'peer',
    strategy: 'gemini-cli',
    settings: { tailTokens: 900 },
  });
});

test.each([
  ['shares of more than 1', { a: { share: 0.6 }, b: { share: 0.6 } }],
  ['an unknown setting', { a: { share: 0.1, treshold: 10 } }],
  ['an unknown strategy', { a: { share: 0.1, strategy: 'poem' } }],
])('configured variants with %s are refused', (_, given) => {
  expect(variantsSchema.safeParse(given).success).toBe(false);
});
