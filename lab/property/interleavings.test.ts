import { searchCases } from '#test/support/search-cases.ts';
import { programArbitrary } from './program.ts';
import { runProgram } from './run-program.ts';
import { searchInThreads } from './search.ts';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';

/** `npm run property` runs as many as it is asked for. */
const RUNS = searchCases(2_000);
const TIMEOUT_MS = 600_000;
const SEED = 20_261_121;

describe('random programs on a store whose order the schedule decides', () => {
  test('keep every invariant', { timeout: TIMEOUT_MS }, async () => {
    const result = await searchInThreads({ runs: RUNS, seed: SEED });

    console.log(`property: ${result.runs} interleavings`);
    expect(result.failure ?? '').toBe('');
    expect(result.runs).toBeGreaterThanOrEqual(RUNS);
  });

  test('have the same run every time', async () => {
    const programs = fc.sample(programArbitrary, { numRuns: 20, seed: SEED });

    for (const program of programs) {
      const first = await runProgram(program, { isTraced: true });
      const second = await runProgram(program, { isTraced: true });

      expect(second.trace).toEqual(first.trace);
      expect(second.final).toEqual(first.final);
    }
  });
});
