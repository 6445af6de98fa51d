import { violationsOf } from './invariants/invariants.ts';
import { describeProgram, programArbitrary } from './program.ts';
import { type Program, runProgram } from './run-program.ts';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';

interface Search {
  /** How many programs, each with its schedule. */
  runs: number;
  seed: number;
  /** fast-check's path of a counterexample: runs that one alone. */
  path?: string | undefined;
}

interface SearchResult {
  runs: number;
  /** The failing program as a person reads it, how it went, and how to see it again. */
  failure?: string;
}

async function describeFailure(program: Program, again: string): Promise<string> {
  const record = await runProgram(program, { isTraced: true });
  return [
    ...violationsOf(record),
    '',
    describeProgram(program),
    '',
    'what happened:',
    ...record.trace.map((line) => `  ${line}`),
    '',
    `again: npm run property -- ${again}`,
  ].join('\n');
}

/**
 * Runs random programs until one breaks an invariant, makes that one smaller, and tells how it went. The
 * same seed draws the same programs, and equal programs have equal runs.
 */
export async function search({ runs, seed, path }: Search): Promise<SearchResult> {
  const property = fc.asyncProperty(programArbitrary, async (program) => {
    const [violation] = violationsOf(await runProgram(program));
    if (violation !== undefined) throw new Error(violation);
  });
  const limit = Error.stackTraceLimit;
  // Guards are lost all the time, and where they were lost nobody asks.
  Error.stackTraceLimit = 0;
  try {
    const details = await fc.check(property, {
      numRuns: runs,
      seed,
      ...(path !== undefined && { path, endOnFailure: true }),
    });
    const program = details.counterexample?.[0];
    if (!program) return { runs: details.numRuns };
    const again = `--seed ${details.seed} --path ${details.counterexamplePath}`;
    return { runs: details.numRuns, failure: await describeFailure(program, again) };
  } finally {
    Error.stackTraceLimit = limit;
  }
}

/** Seeds of one search lie far from those of the next. */
const SEED_STEP = 1_000_003;

async function searchInThread(input: Pick<Search, 'runs' | 'seed'>) {
  const worker = new Worker(new URL('search-thread.ts', import.meta.url), { workerData: input });
  const [result] = (await once(worker, 'message')) as [SearchResult];
  await worker.terminate();
  return result;
}

/** Spreads a search over the processors; the first failure of any of them is the result. */
export async function searchInThreads(
  wanted: Pick<Search, 'runs' | 'seed'>,
): Promise<SearchResult> {
  const threads = Math.max(2, availableParallelism());
  const results = await Promise.all(
    Array.from({ length: threads }, (_, index) =>
      searchInThread({
        ...wanted,
        runs: Math.ceil(wanted.runs / threads),
        seed: wanted.seed + index * SEED_STEP,
      }),
    ),
  );
  const failure = results.find((result) => result.failure !== undefined)?.failure;
  const runs = results.reduce((sum, result) => sum + result.runs, 0);
  return { runs, ...(failure !== undefined && { failure }) };
}
