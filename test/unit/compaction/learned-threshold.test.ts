import { learnShift, resolvePolicy } from '#shared/compaction/policy.ts';
import { expect, test } from 'vitest';

const thresholdTokens = 24_000;

test.each<[string, number | undefined, number, number]>([
  ['at the threshold: nothing', undefined, 24_000, 0],
  ['a little below: half of the way there', undefined, 23_000, -0.021],
  ['far below: half of what it may move', undefined, 6_000, -0.05],
  ['far below again: nearer to the bound', -0.05, 6_000, -0.075],
  ['far below for ever: the bound', -0.1, 6_000, -0.1],
  ['above it: up', undefined, 25_000, 0.021],
  ['far above for ever: the bound', 0.1, 90_000, 0.1],
  ['far above after far below: back', -0.1, 90_000, 0],
  ['what was stored beyond the bound counts as the bound', -0.9, 24_000, -0.05],
  ['an empty conversation: nothing', -0.05, 0, -0.05],
])('a manual compaction teaches the threshold: %s', (...[, known, tokens, shift]) => {
  expect(learnShift(known, { tokens, thresholdTokens })).toBe(shift);
});

const model = 'gemini-2.5-flash';
test.each<[string, Parameters<typeof resolvePolicy>[0], number | null]>([
  ['moves that of the deployment', { model, thresholdShift: -0.1 }, 21_600],
  ['upwards as well', { model, thresholdShift: 0.05 }, 25_200],
  ['by a tenth at most', { model, thresholdShift: -0.5 }, 21_600],
  [
    'never that which the conversation names',
    { model, thresholdShift: -0.1, conversation: { thresholdTokens: 10_000 } },
    10_000,
  ],
  [
    'nor that of the profile gemini-cli',
    { model, thresholdShift: -0.1, profile: 'gemini-cli' },
    524_288,
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
