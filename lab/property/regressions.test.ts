import { describe, expect, test } from 'vitest';
import { violationsOf } from './invariants/invariants.ts';
import { regressions } from './regressions.ts';
import { runProgram } from './run-program.ts';

describe('a program that was once found', () => {
  test.each(regressions)('holds now: $name', async ({ program }) => {
    const record = await runProgram(program);

    expect(violationsOf(record)).toEqual([]);
  });

  test.each(regressions.filter(({ mutant }) => mutant !== undefined))(
    'breaks again with its flaw put back: $name',
    async ({ program, mutant }) => {
      const record = await runProgram(program, { ...(mutant && { rewrite: mutant.rewrite }) });

      expect(violationsOf(record)[0]).toMatch(mutant?.breaks ?? /^$/);
    },
  );
});
