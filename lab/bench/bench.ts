import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  ArgumentError,
  checkWritable,
  readInteger,
  readOptions,
  runCommand,
} from '#infra/command-line.ts';
import { coldGroup } from './cases/cold.ts';
import { peerGroups } from './cases/peers.ts';
import { recallGroup } from './cases/recall.ts';
import { streamGroup } from './cases/streams.ts';
import { turnGroup } from './cases/turn.ts';
import { workerGroup } from './cases/worker.ts';
import { measureGroups, type BenchGroup, type BenchListener } from './measure.ts';
import { lineOf, thisMachine } from './report/report.ts';

const help = `Usage: npm run bench [-- --peers] [--only NAME] [--quick] [--samples N] [--json OUT] [--report]

Measures what Recap costs and how fast it is, each figure beside a reference in the same run on the same machine, in turns.
Starts what it needs: emulators (where installed), the fake Gemini, processes of both functions. Nothing is
sent anywhere else.

  --peers      beside other systems of the same purpose, in the place of the usual references; npm installs them into
               lab/bench/peers on the way
  --only NAME  the benchmarks whose name holds NAME, or that are of the group NAME
  --quick      two samples of each, without the benchmarks that take long: two minutes
  --samples N  at most so many samples of each
  --json OUT   write machine and figures to this file
  --report     write docs/reference/speed.md and its picture; of all benchmarks, on a machine that does nothing else
  --help       this text

Exit code: 0 measured, whatever was met; 1 something could not be measured; 2 wrong arguments.`;

const options = {
  peers: { type: 'boolean', default: false },
  only: { type: 'string' },
  quick: { type: 'boolean', default: false },
  samples: { type: 'string' },
  json: { type: 'string' },
  report: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Of each case with --quick. */
const QUICK_SAMPLES = 2;

const reportFolder = fileURLToPath(new URL('../../docs/reference', import.meta.url));

/** Progress goes to the error output, so that what was measured can be piped on. */
const progress: BenchListener = {
  started: (name) => void process.stderr.write(`${name} …\n`),
  measured: (result) => void process.stdout.write(`${lineOf(result)}\n`),
  failed: (name, { error, isRepeated }) => {
    const reason = error instanceof Error ? error.message : String(error);
    process.stdout.write(`FAILED ${name}${isRepeated ? ' again' : ', once more'}: ${reason}\n`);
  },
};

const allGroups = (): BenchGroup[] => [
  turnGroup(),
  recallGroup(),
  streamGroup(),
  workerGroup(),
  coldGroup(),
];

/** The groups with only the cases that are wanted. Throws ArgumentError where there are none. */
function chosenGroups(all: readonly BenchGroup[], only: string, isQuick: boolean): BenchGroup[] {
  const chosen = all.map((group) => ({
    ...group,
    cases: group.cases.filter(
      ({ name, isLong = false }) =>
        (group.name === only || name.includes(only)) && !(isQuick && isLong),
    ),
  }));
  if (chosen.every(({ cases }) => cases.length === 0)) {
    const names = all.map(
      ({ name, cases }) => `${name} (${cases.map((each) => each.name).join(', ')})`,
    );
    throw new ArgumentError(`no benchmark is called ${only}. There are: ${names.join('; ')}`);
  }
  return chosen.filter(({ cases }) => cases.length > 0);
}

const exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  const { peers, only = '', quick, json, report } = values;
  const samples = readInteger('--samples', values.samples);
  if (values.only === '')
    throw new ArgumentError('--only takes a part of a name, or a group, not an empty text');
  if (report && (peers || only !== '' || quick || samples !== undefined))
    throw new ArgumentError(
      '--report writes the whole page: leave --peers, --only, --quick and --samples away',
    );
  await checkWritable('--json', json);
  const groups = chosenGroups(peers ? peerGroups() : allGroups(), only, quick);
  const mostSamples = samples ?? (quick ? QUICK_SAMPLES : Infinity);
  const machine = thisMachine();
  const results = await measureGroups(groups, { mostSamples, listener: progress });
  if (json !== undefined)
    await writeFile(json, `${JSON.stringify({ machine, results }, null, 2)}\n`);
  if (report) {
    // Only then: the packages that draw take half a second to load.
    const { writeReport } = await import('./report/write-report.ts');
    await writeReport(reportFolder, groups, { machine, results });
  }
  const total = groups.reduce((sum, { cases }) => sum + cases.length, 0);
  return results.length === total ? 0 : 1;
});
// A case that failed may have left a server open, which would keep the process for ever.
process.exit(exitCode);
