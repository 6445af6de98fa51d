import { parseArgs } from 'node:util';
import { search } from './search.ts';
import { searchInThreads } from './search-in-threads.ts';

/** Programs between two lines of progress. */
const CHUNK = 5_000;

/**
 * `npm run property -- --runs 2000000 [--seed S]` looks for a program that breaks an invariant;
 * `--seed S --path P` shows one that was found.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: String(CHUNK) },
      seed: { type: 'string' },
      path: { type: 'string' },
    },
  });
  const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed);
  const runs = Number(values.runs);
  if (!Number.isInteger(seed) || !Number.isInteger(runs) || runs < 1) {
    console.error('--runs and --seed are whole numbers, --runs at least 1.');
    return 2;
  }
  const startMs = performance.now();
  for (let done = 0; done < runs;) {
    const next = { runs: Math.min(CHUNK, runs - done), seed: seed + done };
    const result =
      values.path === undefined
        ? await searchInThreads(next)
        : await search({ ...next, path: values.path });
    if (result.failure !== undefined) {
      console.error(result.failure);
      return 1;
    }
    done = values.path === undefined ? done + next.runs : runs;
    const perSecond = (1_000 * done) / (performance.now() - startMs);
    console.log(
      `seed ${next.seed}: ${done} of ${runs} interleavings hold, ${perSecond.toFixed(0)} a second`,
    );
  }
  return 0;
}

process.exitCode = await main();
