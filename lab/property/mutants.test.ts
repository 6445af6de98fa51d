import { describe, expect, test } from 'vitest';
import { mutants } from './mutants.ts';
import { search } from './search.ts';

/** The rarest of them takes two requests that meet within a few steps. */
const runs = 2_000;

describe('what the programs must find', () => {
  test.each(Object.values(mutants))('$name', async ({ name, rewrite, breaks, seed }) => {
    const result = await search({ runs, seed, rewrite });

    console.log(`${name}: found after ${result.runs} programs`);
    expect(result.failure).toMatch(breaks);
  });
});
