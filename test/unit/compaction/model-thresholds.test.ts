import { resolvePolicy } from '#shared/compaction/policy.ts';
import { expect, test } from 'vitest';

test.each<[string, string, number, string]>([
  ['gemini-2.5-flash', 'coding', 48_000, 'default'],
  ['gemini-2.5-flash', 'assistant', 24_000, 'default'],
  ['gemini-2.5-flash', 'gemini-cli', 524_288, 'default'],
  ['models/gemma-4-31b-it', 'assistant', 12_000, 'model'],
  ['gemma-3-27b-it', 'coding', 16_000, 'model'],
  ['gemma-3-1b-it', 'assistant', 8_192, 'model'],
  ['gemma-3-1b-it', 'coding', 8_192, 'model'],
  ['gemma-2-9b-it', 'assistant', 2_048, 'model'],
  ['gemma-3-27b-it', 'gemini-cli', 65_536, 'default'],
])('the threshold of %s in the profile %s is %i, from the level %s', (...row) => {
  const [model, profile, tokens, level] = row;
  const { softThresholdTokens, thresholdLevel } = resolvePolicy({ model, profile });

  expect([softThresholdTokens, thresholdLevel]).toEqual([tokens, level]);
});
