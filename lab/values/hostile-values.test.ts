import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildOne, corruptionArbitrary, liveWith } from './corruptions.ts';
import { searchValues } from './search-values.ts';
import { searchCases } from '#test/support/search-cases.ts';

/** The same in every run; `npm run values` draws others, as many as it is asked for. */
const VALUES = searchCases(2_000);
const CORRUPTIONS = searchCases(30);
const SEED = 20_261_121;

test('S6: values of any kind leave every conversation in use', { timeout: 120_000 }, async () => {
  const result = await searchValues({ values: VALUES, seed: SEED });

  console.log(`hostile values: ${result.values} in ${result.conversations} conversations`);
  expect(result.problems).toEqual([]);
  expect(result.values).toBeGreaterThanOrEqual(VALUES);
  expect([...result.outcomes.keys()].some((outcome) => outcome.includes('COMPACTED'))).toBe(true);
});

test(
  'stored fields of any kind are gone on with, or can be deleted',
  { timeout: 120_000 },
  async () => {
    const built = await buildOne();
    const problems: string[] = [];

    for (const corruption of fc.sample(corruptionArbitrary, { seed: SEED, numRuns: CORRUPTIONS }))
      problems.push(...(await liveWith(built, corruption)));

    expect(problems).toEqual([]);
  },
);
