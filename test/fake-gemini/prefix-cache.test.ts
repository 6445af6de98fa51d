import { expect, test } from 'vitest';
import { PrefixCache } from '#infra/fake-gemini/server/prefix-cache.ts';

const TOKENS = 5_000;

test('the prefix cache forgets the oldest of more than 50,000 prefixes of a model', () => {
  const cache = new PrefixCache();
  const prefixes = Array.from({ length: 50_001 }, (_, n) => ({ hash: `p${n}`, tokens: TOKENS }));
  cache.use('m', prefixes);

  const newest = cache.use('m', prefixes.slice(-1));
  const second = cache.use('m', prefixes.slice(1, 2));
  const oldest = cache.use('m', prefixes.slice(0, 1));

  expect([newest, second, oldest]).toEqual([TOKENS, TOKENS, 0]);
});
