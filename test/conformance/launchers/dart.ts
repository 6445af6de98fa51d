import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dartPath } from '#test/support/tools/missing-tools.ts';
import { buildClient, type SourceFile } from './build-client.ts';
import { programLauncher, type Launcher } from './launcher.ts';

/* The client for Dart: a program of the machine, compiled ahead. */

const PROGRAM = 'driver';

const run = promisify(execFile);

/** Runs `dart` in a folder; throws what it says. */
async function runDart(folder: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await run(dartPath() ?? 'dart', args, { cwd: folder, timeout: 300_000 });
    return stdout;
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
  const version = await runDart('.', '--version');
  return buildClient({
    client: 'dart',
    sources: /^[^.].*\.(dart|yaml)$/,
    more,
    key: [version, ...commands].join(),
    compile: async (folder) => {
      for (const command of ['pub get --offline', ...commands])
        await runDart(folder, ...command.split(' '));
    },
  });
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
