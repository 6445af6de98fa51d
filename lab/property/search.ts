import fc from 'fast-check';
import { violationsOf } from './invariants/invariants.ts';
import { describeProgram, programArbitrary } from './program.ts';
import { type Program, runProgram, type RunRecord } from './run-program.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { Rewrite } from './world-store.ts';

export interface Search {
  /** How many programs, each with its schedule. */
  runs: number;
  seed: number;
  /** fast-check's path of a counterexample: runs that one alone. */
  path?: string | undefined;
  /** Ends the search early, without a verdict on the rest. */
  timeLimitMs?: number;
  /** A mutant. Its first failure is enough, nothing is made smaller. */
  rewrite?: Rewrite;
  /** Gives the database to run on, empty; default: memory. The order of commits is then not known. */
  emptyStore?: () => Promise<DocumentStore>;
}

export interface SearchResult {
  runs: number;
  /** The failing program as a person reads it, how it went, and how to see it again. */
  failure?: string;
}

interface Runner {
  run(program: Program, isTraced: boolean): Promise<RunRecord>;
  violations(record: RunRecord): string[];
}

function runnerOf({ rewrite, emptyStore }: Search): Runner {
  return {
    run: async (program, isTraced) =>
      runProgram(program, {
        isTraced,
        ...(rewrite && { rewrite }),
        ...(emptyStore && { store: await emptyStore() }),
      }),
    violations: (record) => violationsOf(record, { isOrderKnown: emptyStore === undefined }),
  };
}

async function describeFailure(
  runner: Runner,
  failing: { program: Program; seed: number; path: string; first: string },
): Promise<string> {
  const { program, seed, path, first } = failing;
  const record = await runner.run(program, true);
  const violations = runner.violations(record);
  return [
    // A real database may not go wrong a second time.
    ...(violations.length > 0 ? violations : [first]),
    '',
    describeProgram(program),
    '',
    'what happened:',
    ...record.trace.map((line) => `  ${line}`),
    '',
    `again: npm run property -- --seed ${seed} --path ${path}`,
  ].join('\n');
}

/**
 * Runs random programs until one breaks an invariant, makes that one smaller, and tells how it went. The
 * same seed draws the same programs, and equal programs have equal runs.
 */
export async function search(input: Search): Promise<SearchResult> {
  const { runs, seed, path, timeLimitMs, rewrite } = input;
  const runner = runnerOf(input);
  const property = fc.asyncProperty(programArbitrary, async (program) => {
    const violations = runner.violations(await runner.run(program, false));
    if (violations.length > 0) throw new Error(violations[0]);
  });
  const limit = Error.stackTraceLimit;
  // Guards are lost all the time, and where they were lost nobody asks.
  Error.stackTraceLimit = 0;
  try {
    const details = await fc.check(property, {
      numRuns: runs,
      seed,
      ...(path !== undefined && { path, endOnFailure: true }),
      ...(timeLimitMs !== undefined && { interruptAfterTimeLimit: timeLimitMs }),
      ...(rewrite && { endOnFailure: true }),
    });
    const program = details.counterexample?.[0];
    if (!program) return { runs: details.numRuns };
    const failing = {
      program,
      seed: details.seed,
      path: details.counterexamplePath ?? '',
      first: String(details.errorInstance),
    };
    return { runs: details.numRuns, failure: await describeFailure(runner, failing) };
  } finally {
    Error.stackTraceLimit = limit;
  }
}
