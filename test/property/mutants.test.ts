import { describe, expect, test } from 'vitest';
import { mutants } from './mutants.ts';
import { search } from './search.ts';

describe('what the programs must find', () => {
  test.each(mutants)('$name', async ({ rewrite, breaks }) => {
    const result = await search({ runs: 1_000, seed: 1, rewrite });

    expect(result.failure).toMatch(breaks);
  });
});
