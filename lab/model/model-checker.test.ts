import { describe, expect, test } from 'vitest';
import { INSTALL_MODEL_CHECKER, missingModelChecker } from '#test/support/tools/missing-tools.ts';
import { mutants, smallConfigurations } from './configurations.ts';
import { searchModel } from './spin.ts';

const limits = { deadlineMs: 120_000, memoryLimitMb: 2_000 };
const timeoutMs = 150_000;

const missing = missingModelChecker();
const isSkipped = missing.length > 0 && process.env.CI !== 'true';

function requireModelChecker(): void {
  if (missing.length > 0)
    throw new Error(`${missing.join(' and ')} not found; ${INSTALL_MODEL_CHECKER}`);
}

describe.skipIf(isSkipped)('the model of the protocol', () => {
  test.each(smallConfigurations)(
    'keeps I1 to I6 in every order of events with $MESSAGES messages, $FAULTS faults and $CHANGES changes',
    { timeout: timeoutMs },
    async (bounds) => {
      requireModelChecker();

      const result = await searchModel({ bounds, ...limits });

      console.log(`${result.states} states in ${result.seconds.toFixed(1)} s`);
      expect(result.counterexample).toBe('');
      expect(result.errors).toBe(0);
      expect(result.states).toBeGreaterThan(10_000);
    },
  );

  test.each(mutants)('$sentence', { timeout: timeoutMs }, async ({ name, bounds }) => {
    requireModelChecker();

    const result = await searchModel({ bounds, mutant: name, ...limits });

    expect(result.errors).toBe(1);
    expect(result.counterexample).toContain('assertion violated');
  });
});
