import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { z } from 'zod';
import { chooseFreePort } from '#infra/local/processes/open-server.ts';
import { eventually } from '#test/support/eventually.ts';

/*
 * What Google does with an archive of sources, in the order of GoogleCloudPlatform/buildpacks (cmd/nodejs/npm,
 * cmd/nodejs/functions_framework and cmd/nodejs/runtime, August 2026).
 */

const FRAMEWORK = '@google-cloud/functions-framework';
/** More than any step takes; npm waits for minutes where a registry does not answer. */
const STEP_TIMEOUT_MS = 60_000;
/** The share of an instance's memory that the launcher gives to the heap: cmd/nodejs/runtime/exec/heapsize.sh. */
const HEAP_SHARE = 0.8;

const manifestSchema = z.object({
  main: z.string(),
  scripts: z.record(z.string(), z.string()),
  dependencies: z.record(z.string(), z.string()),
  devDependencies: z.record(z.string(), z.string()).default({}),
});

/** A shell of the builder or of an instance, without what npm and vitest say to their children. */
const shell = (...folders: string[]) => {
  const { PATH = '', HOME } = process.env;
  return { PATH: [...folders, dirname(process.execPath), PATH].join(delimiter), HOME };
};

interface Image {
  folder: string;
  /** What the script `gcp-build` printed. */
  built: string;
  run(command: string, ...line: string[]): Promise<{ stdout: string; stderr: string }>;
  remove(): Promise<void>;
}

type Run = Image['run'];

async function build(folder: string, zip: Uint8Array, run: Run): Promise<string> {
  for (const [name, content] of Object.entries(unzipSync(zip)))
    await writeFile(join(folder, name), content);
  const manifest = manifestSchema.parse(
    JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')),
  );
  // Offline where npm has the packages already: the lock file says which bytes they have.
  await run('npm', 'ci', '--quiet', '--no-fund', '--no-audit', '--prefer-offline');
  const { stdout: built } =
    'gcp-build' in manifest.scripts ? await run('npm', 'run', 'gcp-build') : { stdout: '' };
  if (Object.keys(manifest.devDependencies).length > 0) await run('npm', 'prune', '--production');
  await access(join(folder, manifest.main));
  await run('node', '--check', manifest.main);
  if (!(FRAMEWORK in manifest.dependencies))
    throw new Error('the buildpack would install a framework of its own version');
  return built;
}

/** Unpacks an archive, installs and builds it. Throws what fails of it. */
export async function buildImage(zip: Uint8Array): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'recap-deployed-'));
  const remove = () => rm(folder, { recursive: true });
  const run: Run = (command, ...line) =>
    promisify(execFile)(command, line, { cwd: folder, env: shell(), timeout: STEP_TIMEOUT_MS });
  try {
    return { folder, built: await build(folder, zip, run), run, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface Instance {
  url: string;
  pid: number | undefined;
  /** What it wrote to standard output and standard error. */
  output(): string;
  stop(): Promise<void>;
}

interface FunctionSettings {
  target: string;
  name: string;
  environment: Readonly<Record<string, string>>;
  memoryMib: number;
  timeoutSeconds: number;
}

/** What an instance finds in its environment beside its own variables. */
function setByGoogle({ target, name, environment, ...settings }: FunctionSettings, port: number) {
  const heapMib = Math.floor(settings.memoryMib * HEAP_SHARE);
  return {
    ...environment,
    NODE_OPTIONS: `${environment['NODE_OPTIONS'] ?? ''} --max-old-space-size=${heapMib}`.trim(),
    FUNCTION_TARGET: target,
    FUNCTION_SIGNATURE_TYPE: 'http',
    PORT: String(port),
    K_SERVICE: name,
    K_CONFIGURATION: name,
    K_REVISION: `${name}-00001-abc`,
    CLOUD_RUN_TIMEOUT_SECONDS: String(settings.timeoutSeconds),
    // Cloud Functions adds it to every function of the second generation.
    LOG_EXECUTION_ID: 'true',
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Starts a function of an image and waits until it takes requests. Throws what it printed where it ends. */
export async function startInstance(image: Image, settings: FunctionSettings): Promise<Instance> {
  const port = await chooseFreePort(0, new Set());
  const child = spawn('/bin/bash', ['-c', join('node_modules', '.bin', 'functions-framework')], {
    cwd: image.folder,
    env: {
      NODE_ENV: 'production',
      ...shell(join(image.folder, 'node_modules', '.bin')),
      ...setByGoogle(settings, port),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (output += data.toString()));
  const url = `http://127.0.0.1:${port}`;
  const listens = async () => {
    if (child.exitCode !== null) throw new Error(`${settings.target} ended: ${output}`);
    return fetch(url).then(
      () => true,
      () => undefined,
    );
  };
  try {
    await eventually(`${settings.target} listens`, listens);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { url, pid: child.pid, output: () => output, stop: () => stop(child) };
}
