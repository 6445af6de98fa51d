import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { programArbitrary } from './program.ts';
import { runProgram } from './run-program.ts';
import { searchInThreads } from './search-in-threads.ts';

const RUNS = 20_000;
/** A busy machine runs fewer of them; `npm run property` runs as many as it is asked for. */
const TIME_LIMIT_MS = 40_000;
const SEED = 20_261_121;

describe('random programs on a store whose order the schedule decides', () => {
  test(
    'keep every invariant',
    async () => {
      const result = await searchInThreads({ runs: RUNS, seed: SEED, timeLimitMs: TIME_LIMIT_MS });

      console.log(`property: ${result.runs} programs`);
      expect(result.failure ?? '').toBe('');
      expect(result.runs).toBeGreaterThan(0);
    },
    2 * TIME_LIMIT_MS,
  );

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
