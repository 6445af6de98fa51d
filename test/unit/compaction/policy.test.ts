import {
  isOverThreshold,
  refuseOverhead,
  resolvePolicy,
  type PolicyInput,
  learnShift,
} from '#shared/compaction/policy.ts';
import { AppError } from '#shared/lib/errors.ts';
import { modelRegistry } from '#shared/models/model-registry.ts';
import { describe, expect, test } from 'vitest';

const model = 'gemini-2.5-flash';
const windowOverrides = { 'small-model': 10_000, 'middle-model': 40_000 };

function refusal(input: Partial<PolicyInput>): AppError {
  try {
    resolvePolicy({ model, ...input });
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('the policy was not refused');
}

const environment = { thresholdTokens: 50_000 };
const remote = { thresholdFraction: 0.01 };
const models = {
  ...modelRegistry,
  [model]: { thresholds: { coding: { thresholdTokens: 90_000 } } },
};
test.each<[string, Partial<PolicyInput>, number | null, string]>([
  ['nothing given', {}, 24_000, 'default'],
  ['a coding conversation', { profile: 'coding' }, 48_000, 'default'],
  ['the row of a model', { models, profile: 'coding' }, 90_000, 'model'],
  ['the row of a model for another profile', { models }, 24_000, 'default'],
  ['environment over the row', { environment, models, profile: 'coding' }, 50_000, 'environment'],
  ['remote over environment', { environment, remote }, 10_485, 'remote'],
  [
    'conversation over environment',
    { conversation: { thresholdTokens: 70_000 }, environment },
    70_000,
    'conversation',
  ],
  [
    'the smaller of what one level gives: tokens',
    { conversation: { thresholdTokens: 70_000, thresholdFraction: 0.5 } },
    70_000,
    'conversation',
  ],
  [
    'the smaller of what one level gives: fraction',
    { conversation: { thresholdTokens: 700_000, thresholdFraction: 0.5 } },
    524_288,
    'conversation',
  ],
  ['fraction 1 is never', { conversation: { thresholdFraction: 1 } }, null, 'conversation'],
  ['profile gemini-cli: fraction only', { profile: 'gemini-cli' }, 524_288, 'default'],
])('the threshold’s level: %s', (...[, input, soft, level]) => {
  const policy = resolvePolicy({ model, ...input });

  expect(policy.softThresholdTokens).toBe(soft);
  expect(policy.thresholdLevel).toBe(level);
});

test.each<[string, Partial<PolicyInput>, string]>([
  ['fraction 0', { conversation: { thresholdFraction: 0 } }, 'thresholdFraction'],
  ['tokens 0', { environment: { thresholdTokens: 0 } }, 'thresholdTokens'],
  ['fraction above 1', { environment: { thresholdFraction: 1.5 } }, 'thresholdFraction'],
  ['a tail of nothing', { environment: { tailTokens: 0 } }, 'tailTokens'],
  ['keep everything', { conversation: { preserveFraction: 1 } }, 'preserveFraction'],
])('refused settings: %s names the field', (_, input, field) => {
  const error = refusal(input);

  expect(error.status).toBe('INVALID_ARGUMENT');
  expect(error.publicMessage).toContain(field);
});

test('an overhead over half of the window is refused where it is set', () => {
  expect(() => refuseOverhead({ overheadTokens: 5_001, windowTokens: 10_000 })).toThrow(
    expect.objectContaining({ reason: 'OVERHEAD_TOO_LARGE' }),
  );
  expect(() => refuseOverhead({ overheadTokens: 5_000, windowTokens: 10_000 })).not.toThrow();
});

describe('what follows from the threshold', () => {
  test('a small window shrinks soft and hard thresholds and budgets', () => {
    const policy = resolvePolicy({ model: 'small-model', windowOverrides, overheadTokens: 4_000 });

    expect(policy.softThresholdTokens).toBe(4_000);
    expect(policy.hardThresholdTokens).toBe(8_000);
    expect(policy.snapshotBudgetTokens).toBe(400);
    expect(policy.toolOutputBudgetTokens).toBe(1_000);
  });

  test('budgets have maximums', () => {
    const policy = resolvePolicy({ model, environment: { thresholdTokens: 500_000 } });

    expect(policy.snapshotBudgetTokens).toBe(8_192);
    expect(policy.toolOutputBudgetTokens).toBe(50_000);
    expect(policy.hardThresholdTokens).toBe(838_860);
  });

  test('the gemini-cli profile gives the limits of Gemini CLI', () => {
    expect(resolvePolicy({ model, profile: 'gemini-cli' })).toMatchObject({
      breakerFailures: 1,
      minimumSavingFraction: 0,
      minimumSavingTokens: 0,
      rearmFraction: 0,
      preserveFraction: 0.3,
      toolOutputMinimumGainTokens: 0,
      acceptsEqualSize: true,
      toolOutputBudgetTokens: 50_000,
      tokenRule: 'gemini-cli',
    });
  });

  test('the policy names the level of each setting, but none of derived values', () => {
    const policy = resolvePolicy({
      model,
      profile: 'coding',
      conversation: { thresholdTokens: 30_000 },
      environment: { breakerFailures: 5 },
      remote: { snapshotBudgetTokens: 900 },
    });

    expect(policy.levels).toEqual({
      thresholdTokens: 'conversation',
      breakerFailures: 'environment',
      snapshotBudgetTokens: 'remote',
      thresholdFraction: 'default',
      tailTokens: 'default',
    });
  });

  test('a longer tail of the profile stays within a sixth of a lower threshold', () => {
    const policy = resolvePolicy({
      model,
      profile: 'coding',
      conversation: { thresholdTokens: 12_000 },
    });

    expect(policy.tailTokens).toBe(2_000);
  });
});

describe('isOverThreshold', () => {
  const policy = resolvePolicy({ model, conversation: { thresholdTokens: 1_000 } });

  test.each([
    [1_099, 100, false],
    [1_100, 100, true],
    [1_101, 100, true],
    [1_000, 0, true],
  ])(
    'isOverThreshold for %i tokens with %i of overhead is %s',
    (tokens, overheadTokens, isOver) => {
      expect(isOverThreshold({ tokens, overheadTokens, policy })).toBe(isOver);
    },
  );

  test('isOverThreshold lowers the threshold when overhead has grown', () => {
    const middle = resolvePolicy({ model: 'middle-model', windowOverrides });

    expect(isOverThreshold({ tokens: 31_999, overheadTokens: 15_000, policy: middle })).toBe(false);
    expect(isOverThreshold({ tokens: 32_000, overheadTokens: 15_000, policy: middle })).toBe(true);
  });
});

const thresholdTokens = 24_000;

test.each<[string, number | undefined, number, number]>([
  ['at the threshold: nothing', undefined, 24_000, 0],
  ['a little below: half of the way there', undefined, 23_000, -0.021],
  ['far below: half of what it may move', undefined, 6_000, -0.05],
  ['far below for ever: the bound', -0.1, 6_000, -0.1],
  ['above it: up', undefined, 25_000, 0.021],
  ['what was stored beyond the bound counts as the bound', -0.9, 24_000, -0.05],
])('a manual compaction teaches the threshold: %s', (...[, known, tokens, shift]) => {
  expect(learnShift(known, { tokens, thresholdTokens })).toBe(shift);
});

test.each<[string, Parameters<typeof resolvePolicy>[0], number | null]>([
  ['moves that of the deployment', { model, thresholdShift: -0.1 }, 21_600],
  ['by a tenth at most', { model, thresholdShift: -0.5 }, 21_600],
  [
    'never that which the conversation names',
    { model, thresholdShift: -0.1, conversation: { thresholdTokens: 10_000 } },
    10_000,
  ],
  [
    'nor makes one of never',
    { model, thresholdShift: -0.1, environment: { thresholdFraction: 1 } },
    null,
  ],
  [
    'never beyond what the window leaves',
    {
      model,
      thresholdShift: 0.1,
      windowOverrides: { [model]: 25_000 },
      environment: { thresholdTokens: 20_000 },
    },
    20_000,
  ],
])('a learned threshold: %s', (_, input, softThresholdTokens) => {
  expect(resolvePolicy(input).softThresholdTokens).toBe(softThresholdTokens);
});
