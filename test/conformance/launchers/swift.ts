import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { swiftTools } from '#test/support/tools/missing-tools.ts';
import { buildClient, type SourceFile } from './build-client.ts';
import { programLauncher, type Launcher } from './launcher.ts';

/* The client for Swift: compiled by `swift build`, and run as a process. */

/** Compiles what stands in a folder. Throws what the compiler says. */
const compile = (swift: string, folder: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // Swift 6.0 on Linux: its library of Observation has a symbol that no library of it defines.
    const linking = process.platform === 'linux' ? ['-Xlinker', '--allow-shlib-undefined'] : [];
    const args = ['build', '--jobs', '2', ...linking];
    const options = { cwd: folder, timeout: 900_000, maxBuffer: 64 * 1024 * 1024 };
    execFile(swift, args, options, (error, stdout, stderr) => {
      if (error) reject(new Error(`${stdout}${stderr}`));
      else resolve();
    });
  });

export async function swiftLauncher(more: readonly SourceFile[]): Promise<Launcher> {
  const tools = swiftTools();
  if (!tools) throw new Error('swift is not installed: .ci/install-swift');
  const { swift, run } = tools;
  const { stdout } = await promisify(execFile)(swift, ['--version']);
  const built = await buildClient({
    client: 'swift',
    sources: /^[^.].*\.swift$/,
    more,
    key: `${swift} ${stdout}`,
    compile: (folder) => compile(swift, folder),
  });
  const program = join(built, '.build', 'debug', 'Driver');
  const [command, ...args] = [...run, program];
  return programLauncher(command, (...given) => [...args, ...given]);
}
