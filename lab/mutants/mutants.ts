import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmulators } from '#infra/local/emulators.ts';
import { runCommand } from '#test/support/processes/run-command.ts';
import { ArgumentError, readOptions } from '#lab/command-line.ts';
import { parseMutant, type Mutant } from './mutant-file.ts';

const help = `Usage: npm run mutants [-- --only TEXT] [--search]

Breaks a copy of the last commit in one place after the other (lab/mutants/patches) and runs the test that each patch names.
A break that no test notices is a promise that nobody keeps.

  --only TEXTS the patches whose names contain one of TEXTS, with commas between
  --search     where the named test finds nothing: every test that imports the broken file, until one fails
  --help       this text

Exit code: 0 all found; 1 one survives, does not apply or does not load; 2 wrong arguments.`;

const options = {
  only: { type: 'string', default: '' },
  search: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const root = fileURLToPath(new URL('../../', import.meta.url));
const patches = fileURLToPath(new URL('patches/', import.meta.url));
const vitest = join(
  dirname(createRequire(import.meta.url).resolve('vitest/package.json')),
  'vitest.mjs',
);
/** A break may make a test wait for ever: what takes longer counts as found. */
const TEST_LIMIT_MS = 180_000;
const SEARCH_LIMIT_MS = 900_000;

/** `hangs`: the test did not end. `broken`: the changed file does not load, so the patch shows nothing. */
type Verdict = 'found' | 'hangs' | 'survives' | 'does not apply' | 'broken';

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

function readMutants(only: string): Mutant[] {
  const names = readdirSync(patches)
    .filter(
      (file) => file.endsWith('.patch') && only.split(',').some((part) => file.includes(part)),
    )
    .map((file) => file.slice(0, -'.patch'.length));
  if (names.length === 0) throw new ArgumentError(`--only ${only}: no patch has that in its name`);
  return names.map((name) =>
    parseMutant(name, readFileSync(join(patches, `${name}.patch`), 'utf8')),
  );
}

/** Runs vitest with the arguments. Undefined when it has not ended after the limit, in ms. */
async function runVitest(
  { folder, environment }: Checkout,
  args: readonly string[],
  limitMs: number,
): Promise<VitestReport | undefined> {
  const outputFile = join(folder, 'vitest-report.json');
  rmSync(outputFile, { force: true });
  const report = ['--reporter=json', `--outputFile=${outputFile}`];
  const child = spawn(process.execPath, [vitest, ...args, '--bail=1', ...report], {
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

async function tryMutant(checkout: Checkout, mutant: Mutant, search: boolean): Promise<Trial> {
  const { folder } = checkout;
  try {
    git(folder, 'apply', '--recount', '-C1', join(patches, `${mutant.name}.patch`));
  } catch {
    return { verdict: 'does not apply' };
  }
  try {
    const named =
      mutant.test === undefined
        ? ({ verdict: 'survives' } as const)
        : judge(folder, await runVitest(checkout, ['run', mutant.test], TEST_LIMIT_MS));
    if (named.verdict !== 'survives' || !search) return named;
    const related = ['related', '--run', ...mutant.files];
    return judge(folder, await runVitest(checkout, related, SEARCH_LIMIT_MS));
  } finally {
    git(folder, 'checkout', '--quiet', '--', '.');
  }
}

/** The tests that the patches name pass while nothing is broken. Throws Error that names the first that fails. */
async function checkUnbroken(checkout: Checkout, mutants: readonly Mutant[]): Promise<void> {
  const tests = [...new Set(mutants.flatMap(({ test }) => test ?? []))];
  if (tests.length === 0) return;
  const { verdict, finder } = judge(
    checkout.folder,
    await runVitest(checkout, ['run', ...tests], SEARCH_LIMIT_MS),
  );
  if (verdict !== 'survives')
    throw new Error(`a test fails although nothing is broken: ${finder ?? verdict}`);
}

async function tryAll(checkout: Checkout, mutants: readonly Mutant[], search: boolean) {
  await checkUnbroken(checkout, mutants);
  const trials: Trial[] = [];
  for (const mutant of mutants) {
    const startMs = performance.now();
    const trial = await tryMutant(checkout, mutant, search);
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    trials.push(trial);
    console.log(
      `${String(trials.length).padStart(3)}/${mutants.length} ${trial.verdict.padEnd(14)} ${mutant.name} (${seconds} s)`,
    );
    if (trial.finder !== undefined) console.log(`    ${trial.finder.split('\n')[0]}`);
  }
  return trials;
}

async function run(wanted: { only: string; search: boolean }): Promise<number> {
  const mutants = readMutants(wanted.only);
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
    const trials = await tryAll({ folder, environment }, mutants, wanted.search);
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
  const { help: isHelp, ...wanted } = readOptions(argv, options);
  return isHelp ? 'help' : run(wanted);
});
