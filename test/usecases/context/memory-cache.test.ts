import { expect, test } from 'vitest';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';

const entry = (seq: number, text = 'x'.repeat(1_000)) => ({
  loadedAt: 1,
  turn: saidTurn(seq, { user: text, model: 'answer' }),
});

test('the cache of finished turns evicts the least recently used when full', () => {
  const cache = createMemoryCache({ maxBytes: 28_000 });
  for (let seq = 1; seq <= 3; seq++) cache.keepTurn('e', entry(seq));
  for (let seq = 4; seq <= 20; seq++) {
    cache.turn('e', 1);
    cache.keepTurn('e', entry(seq));
  }

  expect(cache.turn('e', 1)).toBeDefined();
  expect(cache.turn('e', 2)).toBeUndefined();
});

test('the cache of finished turns keeps nothing larger than itself', () => {
  const cache = createMemoryCache({ maxBytes: 20_000 });
  cache.keepTurn('e', entry(1));

  cache.keepTurn('e', entry(2, 'x'.repeat(100_000)));

  expect(cache.turn('e', 2)).toBeUndefined();
  expect(cache.turn('e', 1)).toBeDefined();
});
