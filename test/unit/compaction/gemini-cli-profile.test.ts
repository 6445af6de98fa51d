import { brakeOn, sizeBrakes } from '#shared/compaction/brake.ts';
import { isOverThreshold, resolvePolicy } from '#shared/compaction/policy.ts';
import { decideSwap } from '#shared/compaction/swap-decision.ts';
import { describe, expect, test } from 'vitest';

const model = 'gemini-2.5-flash';
const peer = resolvePolicy({ model, profile: 'gemini-cli', overheadTokens: 50_000 });
const usual = resolvePolicy({ model, overheadTokens: 50_000 });

describe('the profile gemini-cli as one setting', () => {
  test.each([
    ['a share of the window alone decides', 'softThresholdTokens', 524_288],
    ['the rule of the estimate is its own', 'tokenRule', 'gemini-cli'],
    ['the newest 30 % of the characters stay', 'preserveFraction', 0.3],
    ['one failure latches', 'breakerFailures', 1],
    ['no saving is asked for', 'minimumSavingFraction', 0],
    ['nor any number of tokens', 'minimumSavingTokens', 0],
    ['there is no hysteresis', 'rearmFraction', 0],
    ['the same size passes', 'acceptsEqualSize', true],
    ['system instruction and tools count', 'excludesOverhead', false],
    ['tool outputs are shortened for any gain', 'toolOutputMinimumGainTokens', 0],
  ] as const)('the profile gemini-cli has a policy value of its own: %s', (_, setting, value) => {
    expect(peer[setting]).toBe(value);
    expect(usual[setting]).not.toBe(value);
  });

  test.each([['tool outputs have 50,000 tokens', 'toolOutputBudgetTokens', 50_000]] as const)(
    'the profile gemini-cli shares a policy value with the default: %s',
    (_, setting, value) => {
      expect(peer[setting]).toBe(value);
    },
  );

  test('the gemini-cli profile accepts a swap that saves nothing, but none that adds a token', () => {
    const facts = {
      beforeTokens: 1_000,
      policy: peer,
      trigger: 'auto',
    } as const;

    expect(decideSwap({ ...facts, afterTokens: 1_000 }).swap).toBe(true);
    expect(decideSwap({ ...facts, afterTokens: 1_001 }).swap).toBe(false);
  });

  test('the gemini-cli profile compacts again a turn after a compaction', () => {
    const tokens = 524_288;

    expect(isOverThreshold({ tokens, overheadTokens: 50_000, policy: peer })).toBe(true);
    const history = { generation: 1, afterTokens: tokens };
    const brakes = sizeBrakes({ history, declined: undefined, policy: peer });
    expect(brakeOn(brakes, { trigger: 'auto', now: new Date(0), tokens })).toBeUndefined();
  });
});
