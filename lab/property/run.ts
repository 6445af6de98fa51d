import { ArgumentError, readInteger, readOptions, runCommand } from '#infra/command-line.ts';
import { search, searchInThreads } from './search.ts';

/** Programs between two lines of progress. */
const CHUNK = 5_000;

const help = `Usage: npm run property [-- --runs N] [--seed S] [--path P]

Runs random programs of sends, edits, deletions, crashes and compactions in random orders, and looks for one that
breaks an invariant.

  --runs N  how many programs (default ${CHUNK})
  --seed S  the seed of the first; the same seed makes the same programs (default drawn from the time)
  --path P  with the seed that was printed: the one program that broke an invariant, again
  --help    this text

Exit code: 0 all hold; 1 one does not; 2 wrong arguments.`;

const options = {
  runs: { type: 'string' },
  seed: { type: 'string' },
  path: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

interface Wanted {
  runs: number;
  seed: number;
  path: string | undefined;
}

function readSeed(text: string | undefined): number {
  const seed = text === undefined ? Date.now() % 1_000_000_000 : Number(text);
  if (!Number.isInteger(seed))
    throw new ArgumentError(`--seed takes a whole number, not ${JSON.stringify(text)}`);
  return seed;
}

async function run({ runs, seed, path }: Wanted): Promise<number> {
  const startMs = performance.now();
  for (let done = 0; done < runs;) {
    const next = { runs: Math.min(CHUNK, runs - done), seed: seed + done };
    const result =
      path === undefined ? await searchInThreads(next) : await search({ ...next, path });
    if (result.failure !== undefined) {
      console.error(result.failure);
      return 1;
    }
    done = path === undefined ? done + next.runs : runs;
    const perSecond = (1_000 * done) / (performance.now() - startMs);
    console.log(
      `seed ${next.seed}: ${done} of ${runs} interleavings hold, ${perSecond.toFixed(0)} a second`,
    );
  }
  return 0;
}

process.exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  return run({
    runs: readInteger('--runs', values.runs) ?? CHUNK,
    seed: readSeed(values.seed),
    path: values.path,
  });
});
