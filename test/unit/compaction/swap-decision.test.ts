import { decideSwap, type SwapFacts } from '#shared/compaction/swap-decision.ts';
import { expect, test } from 'vitest';

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
  [
    'larger by a function told of now',
    { afterTokens: 1_001, addedOverheadTokens: 500 },
    'FAILED_INFLATED_TOKEN_COUNT NOT_SMALLER',
  ],
  ['saves exactly a quarter of the threshold', { policy: quarter, afterTokens: 500 }, 'SWAP'],
  [
    'saves less than a quarter of the threshold',
    { policy: quarter, afterTokens: 501 },
    'FAILED_INFLATED_TOKEN_COUNT SAVES_TOO_LITTLE',
  ],
  ['folds a part, saves one token', { isPartial: true, afterTokens: 999 }, 'SWAP'],
  ['equal size', { afterTokens: 1_000 }, 'FAILED_INFLATED_TOKEN_COUNT NOT_SMALLER'],
  ['larger', { afterTokens: 1_200 }, 'FAILED_INFLATED_TOKEN_COUNT NOT_SMALLER'],
  ['after an overflow, saves one token', { trigger: 'overflow', afterTokens: 999 }, 'SWAP'],
  [
    'after an overflow, equal size',
    { trigger: 'overflow', afterTokens: 1_000 },
    'FAILED_INFLATED_TOKEN_COUNT NOT_SMALLER',
  ],
  ['by hand, saves one token', { trigger: 'manual', afterTokens: 999 }, 'SWAP'],
  [
    'by hand, equal size',
    { trigger: 'manual', afterTokens: 1_000 },
    'FAILED_INFLATED_TOKEN_COUNT NOT_SMALLER',
  ],
  ['profile gemini-cli, equal size', { policy: peer, afterTokens: 1_000 }, 'SWAP'],
  [
    'profile gemini-cli, larger',
    { policy: peer, afterTokens: 1_001 },
    'FAILED_INFLATED_TOKEN_COUNT NOT_SMALLER',
  ],
  ['before not countable', { beforeTokens: null }, 'FAILED_TOKEN_COUNT_ERROR TOKEN_COUNT'],
  ['after not countable', { afterTokens: null }, 'FAILED_TOKEN_COUNT_ERROR TOKEN_COUNT'],
  ['nothing left after', { afterTokens: 0 }, 'FAILED_TOKEN_COUNT_ERROR TOKEN_COUNT'],
  ['after not a number', { afterTokens: Number.NaN }, 'FAILED_TOKEN_COUNT_ERROR TOKEN_COUNT'],
])('the swap decision: %s', (_, facts, expected) => {
  const decision = decideSwap({ ...base, ...facts });

  expect(decision.swap ? 'SWAP' : `${decision.state} ${decision.reason}`).toBe(expected);
});
