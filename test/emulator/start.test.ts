import { chooseFreePort } from '#infra/local/processes/open-server.ts';
import { runPrintedCalls } from '#test/support/processes/run-blocks.ts';
import { eventually } from '../support/eventually.ts';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../infra/local/start.ts', import.meta.url));
const run = promisify(execFile);

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** `npm start`, with emulators of its own. */
async function start() {
  const port = await chooseFreePort(18_080, new Set());
  const { FIRESTORE_EMULATOR_HOST: _, PUBSUB_EMULATOR_HOST: __, ...environment } = process.env;
  const child = spawn(process.execPath, [script, '--port', String(port)], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  let printed = '';
  child.stdout.on('data', (data: Buffer) => (printed += data.toString()));
  await eventually('Recap is ready', async () =>
    printed.includes('Ctrl-C ends all of it.') ? true : undefined,
  );
  return { child, printed };
}

/** Process ids of all descendants. */
async function descendants(processId: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']);
  const parents = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    parents.filter(([, of]) => of === parent).flatMap(([id = 0]) => [id, ...below(id)]);
  return below(processId);
}

const isAlive = (processId: number): boolean => {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
};

/** Ends `npm start` by a signal and waits for the end of all that it has started; the names of those processes. */
async function endsWhole(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL') {
  const processes = await descendants(child.pid ?? 0);
  const { stdout: names } = await run('ps', ['-o', 'comm=', '-p', processes.join(',')]);
  child.kill(signal);
  await once(child, 'exit');
  await eventually('every process is gone', async () =>
    processes.some(isAlive) ? undefined : true,
  );
  return names;
}

test('npm start runs on the emulators, answers the calls that it prints, and leaves no process behind, java included', async () => {
  const { child, printed } = await start();

  const { stream, json } = await runPrintedCalls(printed);

  expect(printed).toContain('Firestore and Pub/Sub emulators');
  expect(stream).toContain('data: [DONE]');
  expect(json).toContain('My dog is called Pixel.');
  expect(await endsWhole(child, 'SIGTERM')).toContain('java');
});

test('npm start leaves no process behind when it is killed', async () => {
  const { child } = await start();

  expect(await endsWhole(child, 'SIGKILL')).toContain('java');
});
