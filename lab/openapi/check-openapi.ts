import { readInteger, readOptions, runCommand } from '#infra/command-line.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { startStack } from '#infra/local/stack/start-stack.ts';

const help = `Usage: npm run check:openapi -- [--seed S] [--examples N] [--walk-seconds S]

Checks with schemathesis that the local stack answers as its OpenAPI document says: examples, coverage and fuzzing, then
sequences of requests, with ids from earlier answers. It is installed below node_modules/.cache on demand (Python 3.10 with venv).

  --seed S           of schemathesis (default 1)
  --examples N       tries of an operation in each phase (default 50)
  --walk-seconds S   how long it sends sequences (default 120)
  --help             this text

Exit code: 0 nothing was found; 1 something was; 2 wrong arguments, or Python is missing.`;

const options = {
  seed: { type: 'string', default: '1' },
  examples: { type: 'string', default: '50' },
  'walk-seconds': { type: 'string', default: '120' },
  help: { type: 'boolean', default: false },
} as const;

const settings = fileURLToPath(new URL('schemathesis', import.meta.url));
const cache = fileURLToPath(new URL('../../node_modules/.cache/check-openapi/', import.meta.url));

/** Runs a program to its end, in the cache; resolves to its exit code. Throws Error where it is not installed. */
async function run(command: string, parameters: readonly string[]): Promise<number> {
  const environment = { ...process.env, PYTHONPATH: settings };
  const child = spawn(command, parameters, { cwd: cache, env: environment, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}

/** Installs schemathesis; resolves to its program. Throws Error where that cannot be. */
async function install(): Promise<string> {
  await mkdir(cache, { recursive: true });
  const programs = join(cache, 'schemathesis/bin');
  const hasPip = await access(join(programs, 'pip')).then(
    () => true,
    () => false,
  );
  if (!hasPip && (await run('python3', ['-m', 'venv', 'schemathesis'])) !== 0)
    throw new Error('python3 with venv is missing (Debian: apt-get install python3-venv)');
  const wanted = ['install', '-q', '-r', join(settings, 'requirements.txt')];
  if ((await run(join(programs, 'pip'), wanted)) !== 0)
    throw new Error('pip cannot install schemathesis');
  return join(programs, 'schemathesis');
}

interface Search {
  seed: number;
  examples: number;
  walkSeconds: number;
}

/** Resolves to whether nothing was found. */
async function check(program: string, { seed, examples, walkSeconds }: Search): Promise<boolean> {
  const stack = await startStack({ embedded: true, sweepSeconds: 0, log: () => undefined });
  try {
    const user = { uid: 'ada', projectId: stack.projectId, now: new Date() };
    const authorization = `Authorization: Bearer ${unsignedToken(user)}`;
    const how = `-n ${examples} --seed ${seed} --request-timeout 30 --report ndjson`;
    const target = ['run', `${stack.chatUrl}/v1/openapi.json`, '-H', authorization];
    const common = ['--config-file', join(settings, 'schemathesis.toml'), ...target];
    common.push(...how.split(' '), '--report-dir', cache);
    const requests = await run(program, [...common, '--phases', 'examples,coverage,fuzzing']);
    const walking = ['--phases', 'stateful', '--max-time', String(walkSeconds)];
    const walk = await run(program, [...common, ...walking]);
    return requests === 0 && walk === 0;
  } finally {
    await stack.stop();
  }
}

process.exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  const search = {
    seed: readInteger('--seed', values.seed),
    examples: readInteger('--examples', values.examples),
    walkSeconds: readInteger('--walk-seconds', values['walk-seconds']),
  };
  let program: string;
  try {
    program = await install();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  const isClean = await check(program, search);
  process.stdout.write(isClean ? 'nothing found\n' : 'something was found\n');
  return isClean ? 0 : 1;
});
