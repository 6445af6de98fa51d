import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { dartPath } from '#test/support/tools/missing-tools.ts';
import { programLauncher, type Launcher } from './launcher.ts';

/* The client for Dart: a program of the machine, compiled ahead. */

const SOURCE = fileURLToPath(new URL('../../../clients/dart', import.meta.url));
/** Programs by what they are made from: the compiler needs 5 s of processor time. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/dart-client', import.meta.url));
const PROGRAM = 'driver';

export interface SourceFile {
  /** Below `clients/dart`. */
  name: string;
  text: string;
}

async function readSource(): Promise<SourceFile[]> {
  const names = await readdir(SOURCE, { recursive: true });
  const sources = names.filter((name) => /^[^.].*\.(dart|yaml)$/.test(name)).toSorted();
  return Promise.all(
    sources.map(async (name) => ({ name, text: await readFile(join(SOURCE, name), 'utf8') })),
  );
}

const run = promisify(execFile);

/** Runs `dart` in a folder; throws what it says. */
async function runDart(folder: string, ...args: string[]): Promise<void> {
  try {
    await run(dartPath() ?? 'dart', args, { cwd: folder, timeout: 300_000 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`dart ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}

/** The folder of the package with `more` in it, after `commands` that need to be run once. */
async function buildDart(
  more: readonly SourceFile[],
  commands: readonly string[],
): Promise<string> {
  const files = [...(await readSource()), ...more];
  const hash = createHash('sha256')
    .update(JSON.stringify([files, commands]))
    .digest('hex');
  const built = join(CACHE, hash);
  if (existsSync(built)) return built;
  const folder = join(CACHE, randomUUID());
  for (const { name, text } of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  try {
    for (const command of ['pub get --offline', ...commands])
      await runDart(folder, ...command.split(' '));
    await rename(folder, built).catch((error: unknown) => {
      // Another process may have built the same meanwhile.
      if (!existsSync(built)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return built;
}

/** Throws what the analysis finds in the package with `more` in it, or that it is not formatted. */
export async function checkDart(more: readonly SourceFile[]): Promise<void> {
  const format = 'format --output=none --set-exit-if-changed lib conformance';
  await buildDart(more, ['analyze --fatal-infos', format]);
}

export async function dartLauncher(): Promise<Launcher> {
  const built = await buildDart([], [`compile exe conformance/driver.dart -o ${PROGRAM}`]);
  return programLauncher(join(built, PROGRAM), (...given) => given);
}
