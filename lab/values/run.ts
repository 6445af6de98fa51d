import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { terminalText } from '#infra/terminal-text.ts';
import { ArgumentError, readOptions, readInteger } from '../eval/replay/replay-arguments.ts';
import { runCommand } from '#test/support/processes/run-command.ts';
import { searchValues, type ValueSearchResult } from './search-values.ts';

/** Values of one thread between two lines of progress. */
const CHUNK = 2_000;
/** Seeds of one chunk lie far from those of the next: each conversation draws with one of its own. */
const SEED_STEP = 1_000_003;

const help = `Usage: npm run values [-- --values N] [--minutes M] [--seed S] [--firestore]

Gives the service values of any kind wherever something is stored: as what a model, a tool, a hook or a client says. Looks
for one that is answered with a 5xx, or after which a conversation cannot be used, compacted, changed or erased.

  --values N   how many values, at least (default 2000)
  --minutes M  ends earlier, once they have passed
  --seed S     the seed of the first conversation; the same seed draws the same values (default drawn from the time)
  --firestore  on the emulator that FIRESTORE_EMULATOR_HOST names, in one thread; else in memory, in all
  --help       this text

Exit code: 0 all went well; 1 a problem; 2 wrong arguments.`;

const options = {
  values: { type: 'string' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  firestore: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

interface Wanted {
  values: number;
  seed: number;
  untilMs: number;
  onFirestore: boolean;
}

/** One chunk of values with its seed. */
type RunChunk = (search: { values: number; seed: number }) => Promise<ValueSearchResult>;

const inThread: RunChunk = async (workerData) => {
  const worker = new Worker(new URL('values-thread.ts', import.meta.url), { workerData });
  const [result] = (await once(worker, 'message')) as [ValueSearchResult];
  await worker.terminate();
  return result;
};

function onFirestore(): RunChunk {
  if (process.env.FIRESTORE_EMULATOR_HOST === undefined)
    throw new ArgumentError('--firestore needs FIRESTORE_EMULATOR_HOST');
  const store = createFirestoreDocumentStore({ projectId: 'demo-values', deadlineMs: 30_000 });
  return (search) => searchValues({ ...search, store });
}

async function run(wanted: Wanted): Promise<number> {
  const startMs = performance.now();
  const sum = { values: 0, conversations: 0, problems: 0 };
  const runChunk = wanted.onFirestore ? onFirestore() : inThread;
  const threads = wanted.onFirestore ? 1 : Math.max(2, availableParallelism());
  let chunks = 0;
  const take = async () => {
    while (sum.values < wanted.values && sum.problems === 0 && Date.now() < wanted.untilMs) {
      const seed = wanted.seed + SEED_STEP * chunks++;
      const { problems, ...result } = await runChunk({
        values: Math.min(CHUNK, Math.ceil(wanted.values / threads)),
        seed,
      });
      sum.values += result.values;
      sum.conversations += result.conversations;
      sum.problems += problems.length;
      for (const problem of problems) console.error(terminalText(problem));
      const perSecond = (1_000 * sum.values) / (performance.now() - startMs);
      console.log(
        `seed ${seed}: ${sum.values} of ${wanted.values} values in ${sum.conversations} conversations, ${sum.problems} problems, ${perSecond.toFixed(0)} a second`,
      );
    }
  };
  await Promise.all(Array.from({ length: threads }, take));
  return sum.problems === 0 ? 0 : 1;
}

process.exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  const minutes = readInteger('--minutes', values.minutes);
  return run({
    values: readInteger('--values', values.values) ?? 2_000,
    seed: readInteger('--seed', values.seed) ?? Date.now() % 1_000_000_000,
    untilMs: minutes === undefined ? Infinity : Date.now() + minutes * 60_000,
    onFirestore: values.firestore,
  });
});
