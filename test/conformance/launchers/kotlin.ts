import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { buildClient, type SourceFile } from './build-client.ts';
import type { Driver, Launcher } from './launcher.ts';

/* The client for Kotlin: compiled by Maven, and run in a Java virtual machine. */

/** Started ahead, as a machine takes a second to start and is killed in every fifth scenario. */
const SPARE = 2;

/** Maven, or the repository that it takes libraries from, is out of reach: nothing was compiled. */
export class MavenUnreachable extends Error {}

/** What Maven prints where it cannot get a library, which is no error of the code. */
const UNREACHABLE =
  /Could not (?:resolve|transfer|find artifact)|could not be resolved|Cannot access .* in offline mode/;

/** Maven runs once and ends before Java’s second compiler pays: a third less processor time without it. */
const FAST = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

/** Runs Maven in a folder; what it printed, and whether it went well. */
const runMaven = (folder: string, options: readonly string[]) =>
  new Promise<{ isDone: boolean; printed: string }>((resolve) => {
    const maven = ['--batch-mode', '--quiet', ...options, 'process-test-classes'];
    const env = { ...process.env, MAVEN_OPTS: `${FAST} ${process.env.MAVEN_OPTS ?? ''}` };
    execFile('mvn', maven, { cwd: folder, env, timeout: 900_000 }, (error, stdout, stderr) =>
      resolve({ isDone: !error, printed: `${stdout}${stderr}` }),
    );
  });

/** What is there already is enough, as a rule; else Maven may ask its repository. */
async function compile(folder: string): Promise<void> {
  let build = await runMaven(folder, ['--offline']);
  if (!build.isDone && UNREACHABLE.test(build.printed)) build = await runMaven(folder, []);
  if (build.isDone) return;
  if (UNREACHABLE.test(build.printed)) throw new MavenUnreachable(build.printed.slice(0, 2_000));
  throw new Error(build.printed);
}

/** Little memory, and quick to start rather than quick in the end. */
const MACHINE = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
const DRIVER = 'dev.recap.conformance.DriverKt';
const ARCHIVE = 'classes.jsa';

async function classPathOf(built: string): Promise<string> {
  const target = join(built, 'target');
  const folders = [target, join(target, 'dependency')];
  const names = await Promise.all(folders.map((folder) => readdir(folder)));
  const paths = folders.flatMap((folder, index) =>
    (names[index] ?? []).filter((name) => name.endsWith('.jar')).map((name) => join(folder, name)),
  );
  return paths.toSorted().join(delimiter);
}

/** Rehearses, and archives the classes that it has loaded: a machine starts faster with them. */
async function archiveClasses(built: string): Promise<void> {
  const archive = join(built, ARCHIVE);
  const written = `${archive}-${randomUUID()}`;
  const classPath = await classPathOf(built);
  const args = [...MACHINE, `-XX:ArchiveClassesAtExit=${written}`, '-cp', classPath, DRIVER];
  const child = spawn('java', args, { stdio: 'ignore' });
  await once(child, 'exit');
  // Without it a machine only starts slower.
  await rename(written, archive).catch(() => undefined);
}

/**
 * Compiles the client, its driver and `more`, such as the code of pages; resolves to the folder. Throws MavenUnreachable, or
 * Error with what the compiler says.
 */
async function buildKotlin(more: readonly SourceFile[]): Promise<string> {
  const sources = /^src.*\.kt$|^pom\.xml$/;
  // Another machine does not take the archive of classes.
  const { stderr: key } = await promisify(execFile)('java', ['-version']);
  const built = await buildClient({ client: 'kotlin', sources, more, key, compile });
  if (!existsSync(join(built, ARCHIVE))) await archiveClasses(built);
  return built;
}

export async function kotlinLauncher(more: readonly SourceFile[]): Promise<Launcher> {
  const built = await buildKotlin(more);
  const machine = [...MACHINE, `-XX:SharedArchiveFile=${join(built, ARCHIVE)}`];
  const classPath = await classPathOf(built);
  const folder = mkdtempSync(join(tmpdir(), 'recap-conformance-'));
  const drivers = new Set<Driver>();

  /** A driver that waits to be told the address of the judge. */
  function start() {
    const args = [...machine, '-cp', classPath, DRIVER, folder];
    const child = spawn('java', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    // It says so on a line.
    const ready = Promise.race([once(child.stdout, 'data'), exited]);
    const driver = {
      async kill() {
        drivers.delete(driver);
        child.kill('SIGKILL');
        await exited;
      },
      async use(control: string) {
        await ready;
        child.stdin.write(`${control}\n`);
      },
    };
    drivers.add(driver);
    return driver;
  }
  const spare = Array.from({ length: SPARE }, start);

  return {
    width: 6,
    async launch(control) {
      const driver = spare.shift() ?? start();
      spare.push(start());
      await driver.use(control);
      return driver;
    },
    async stop() {
      await Promise.all([...drivers].map((driver) => driver.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
