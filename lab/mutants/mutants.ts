import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmulators } from '#infra/local/emulators.ts';
import { ArgumentError, readOptions, runCommand } from '#infra/command-line.ts';
import { breakText, readMutants, type Mutant } from './mutant-list.ts';

const help = `Usage: npm run mutants [-- --only TEXTS]

Breaks a copy of the last commit in one place after the other (lab/mutants/mutants.txt) and runs the test that is named there.
A break that no test notices is a promise that nobody keeps.

  --only TEXTS the mutants whose names contain one of TEXTS, with commas between
  --help       this text

Exit code: 0 all found; 1 one survives or does not load; 2 wrong arguments.`;

const options = {
  only: { type: 'string', default: '' },
  help: { type: 'boolean', default: false },
} as const;

const root = fileURLToPath(new URL('../../', import.meta.url));
const vitest = join(
  dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
/** A break may make a test wait for ever: what takes longer counts as found. */
const TEST_LIMIT_MS = 180_000;
const ALL_TESTS_LIMIT_MS = 900_000;

/** `hangs`: the test did not end. `broken`: the changed file does not load, so the mutant shows nothing. */
type Verdict = 'found' | 'hangs' | 'survives' | 'broken';

interface Trial {
  verdict: Verdict;
  /** The first test that failed, as file and title. */
  finder?: string;
}

interface VitestReport {
  numTotalTests: number;
  testResults: {
    name: string;
    message: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

/** A checkout of the last commit, where tests run. */
interface Checkout {
  folder: string;
  environment: NodeJS.ProcessEnv;
}

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

function wantedMutants(only: string): Mutant[] {
  const wanted = readMutants().filter(({ name }) =>
    only.split(',').some((part) => name.includes(part)),
  );
  if (wanted.length === 0)
    throw new ArgumentError(`--only ${only}: no mutant has that in its name`);
  return wanted;
}

/** Runs test files. Undefined when they have not ended after the limit, in ms. */
async function runVitest(
  { folder, environment }: Checkout,
  tests: readonly string[],
  limitMs: number,
): Promise<VitestReport | undefined> {
  const outputFile = join(folder, 'vitest-report.json');
  rmSync(outputFile, { force: true });
  const report = ['--reporter=json', `--outputFile=${outputFile}`];
  const child = spawn(process.execPath, [vitest, 'run', ...tests, '--bail=1', ...report], {
    cwd: folder,
    env: environment,
    stdio: 'ignore',
    detached: true,
  });
  const limit = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, limitMs);
  const [code]: unknown[] = await once(child, 'exit');
  clearTimeout(limit);
  if (code === null) return undefined;
  return JSON.parse(readFileSync(outputFile, 'utf8')) as VitestReport;
}

function judge(folder: string, report: VitestReport | undefined): Trial {
  if (report === undefined) return { verdict: 'hangs' };
  for (const { name, assertionResults } of report.testResults) {
    const failure = assertionResults.find(({ status }) => status === 'failed');
    if (failure)
      return { verdict: 'found', finder: `${name.slice(folder.length + 1)}: ${failure.fullName}` };
  }
  const unloaded = report.testResults.find(({ message }) => message !== '');
  if (unloaded !== undefined || report.numTotalTests === 0)
    return { verdict: 'broken', finder: unloaded?.message ?? 'no test ran' };
  return { verdict: 'survives' };
}

/** Throws Error where the code that is to be broken is not there. */
async function tryMutant(checkout: Checkout, mutant: Mutant): Promise<Trial> {
  const path = join(checkout.folder, mutant.file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, breakText(text, mutant));
  try {
    return judge(checkout.folder, await runVitest(checkout, [mutant.test], TEST_LIMIT_MS));
  } finally {
    writeFileSync(path, text);
  }
}

/** The tests that the mutants name pass while nothing is broken. Throws Error that names the first that fails. */
async function checkUnbroken(checkout: Checkout, mutants: readonly Mutant[]): Promise<void> {
  const tests = [...new Set(mutants.map(({ test }) => test))];
  const { verdict, finder } = judge(
    checkout.folder,
    await runVitest(checkout, tests, ALL_TESTS_LIMIT_MS),
  );
  if (verdict !== 'survives')
    throw new Error(`a test fails although nothing is broken: ${finder ?? verdict}`);
}

async function tryAll(checkout: Checkout, mutants: readonly Mutant[]) {
  await checkUnbroken(checkout, mutants);
  const trials: Trial[] = [];
  for (const mutant of mutants) {
    const startMs = performance.now();
    const trial = await tryMutant(checkout, mutant);
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    trials.push(trial);
    console.log(
      `${String(trials.length).padStart(3)}/${mutants.length} ${trial.verdict.padEnd(8)} ${mutant.name} (${seconds} s)`,
    );
    if (trial.finder !== undefined) console.log(`    ${trial.finder.split('\n')[0]}`);
  }
  return trials;
}

async function run(only: string): Promise<number> {
  const mutants = wantedMutants(only);
  const emulators = await startEmulators({ log: console.log });
  if ('missing' in emulators) throw new Error(emulators.missing);
  const folder = mkdtempSync(join(tmpdir(), 'recap-mutants-'));
  git(root, 'worktree', 'add', '--quiet', '--force', '--detach', folder, 'HEAD');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const environment = {
    ...process.env,
    FIRESTORE_EMULATOR_HOST: emulators.firestoreHost,
    PUBSUB_EMULATOR_HOST: emulators.pubsubHost,
    GOOGLE_CLOUD_PROJECT: 'demo-recap',
    METADATA_SERVER_DETECTION: 'none',
  };
  try {
    const trials = await tryAll({ folder, environment }, mutants);
    const noticed = trials.filter(
      ({ verdict }) => verdict === 'found' || verdict === 'hangs',
    ).length;
    console.log(`${noticed} of ${trials.length} found`);
    return noticed === trials.length ? 0 : 1;
  } finally {
    git(root, 'worktree', 'remove', '--force', folder);
    await emulators.stop();
  }
}

process.exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  return values.help ? 'help' : run(values.only);
});
