import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { checkWritable } from '../eval/given-files.ts';
import { ArgumentError, readOptions, readInteger } from '../eval/replay/replay-arguments.ts';
import { runCommand } from '#test/support/processes/run-command.ts';
import { benchGroups } from './bench-groups.ts';
import { thisMachine } from './report/machine.ts';
import { type BenchListener, groupsWith, measureGroups } from './measure.ts';
import { peerGroups } from './peer-groups.ts';
import { benchPage, peersPage } from './report/report-pages.ts';
import { lineOf } from './report/report.ts';

const help = `Usage: npm run bench [-- --peers] [--only NAME] [--quick] [--samples N] [--json OUT] [--report]

Measures what Recap costs and how fast it is, each figure beside a reference in the same run on the same machine.
Starts what it needs: emulators (where installed), the stand-in for Gemini, processes of both functions. Nothing is
sent anywhere else.

  --peers      beside other systems of the same purpose, in the place of the usual references; npm installs them into
               lab/bench/peers on the way
  --only NAME  the benchmarks whose name holds NAME, or that are of the group NAME
  --quick      two samples of each, without the benchmarks that take long: two minutes
  --samples N  at most so many samples of each
  --json OUT   write machine and figures to this file
  --report     write docs/benchmarks/report.md (peers-figures.md with --peers) and its pictures; of all
               benchmarks, on a machine that does nothing else
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

const reportFolder = fileURLToPath(new URL('../../docs/benchmarks', import.meta.url));

/** Progress goes to the error output, so that what was measured can be piped on. */
function tellProgress(total: number): BenchListener {
  let done = 0;
  const isTerminal = process.stderr.isTTY;
  const write = (text: string) => void process.stderr.write(text);
  return {
    started: (name) => write(`${++done} of ${total}: ${name} …${isTerminal ? '' : '\n'}`),
    sampled: (sample, samples) => isTerminal && write(` ${sample}/${samples}`),
    measured: (result) => {
      if (isTerminal) write('\r\u001B[2K');
      process.stdout.write(`${lineOf(result)}\n`);
    },
    failed: (name, { error, isRepeated }) => {
      const reason = error instanceof Error ? error.message : String(error);
      process.stdout.write(`FAILED ${name}${isRepeated ? ' again' : ', once more'}: ${reason}\n`);
    },
  };
}

interface Wanted {
  peers: boolean;
  only?: string;
  quick: boolean;
  mostSamples?: number | undefined;
  json?: string;
  report: boolean;
}

/** Resolves to the exit code. */
async function run({ peers, only = '', quick, json, report, ...wanted }: Wanted): Promise<number> {
  if (report && (only !== '' || quick || wanted.mostSamples !== undefined))
    throw new ArgumentError(
      '--report writes the whole page: leave --only, --quick and --samples away, or the report',
    );
  await checkWritable('--json', json);
  const mostSamples = wanted.mostSamples ?? (quick ? QUICK_SAMPLES : Infinity);
  const all = peers ? peerGroups() : benchGroups();
  const chosen = groupsWith(
    all,
    ({ name, isLong = false }, group) =>
      (group === only || name.includes(only)) && !(quick && isLong),
  );
  if (chosen.length === 0) {
    const names = all.map(
      ({ name, cases }) => `${name} (${cases.map((each) => each.name).join(', ')})`,
    );
    throw new ArgumentError(`no benchmark is called ${only}. There are: ${names.join('; ')}`);
  }
  const total = chosen.reduce((sum, { cases }) => sum + cases.length, 0);
  const machine = thisMachine();
  const results = await measureGroups(chosen, { mostSamples, listener: tellProgress(total) });
  if (json !== undefined)
    await writeFile(json, `${JSON.stringify({ machine, results }, null, 2)}\n`);
  const code = results.length === total ? 0 : 1;
  if (!report) return code;
  // Only then: the packages that draw take half a second to load.
  const { writeReport } = await import('./report/write-report.ts');
  const page = peers ? await peersPage() : benchPage;
  await writeReport(reportFolder, { page, groups: chosen, run: { machine, results } });
  process.stderr.write(`written to ${reportFolder}\n`);
  return code;
}

const exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  if (values.only === '')
    throw new ArgumentError('--only takes a part of a name, or a group, not an empty text');
  return run({ ...values, mostSamples: readInteger('--samples', values.samples) });
});
// A case that failed may have left a server open, which would keep the process for ever.
process.exit(exitCode);
