import { type Dirent, type Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Between two looks. */
const LOOK_MS = 200;

const IGNORED_FOLDERS = ['node_modules', 'dist'];

/** Whether an app starts anew with a file: its sources, its packages, its settings. Other files it may write itself. */
const isSourceOfApp = (name: string): boolean =>
  /\.[cm]?[jt]sx?$|^package\.json$|^\.env$/.test(name);

const isIgnored = (folder: string): boolean =>
  folder.startsWith('.') || IGNORED_FOLDERS.includes(folder);

const orNothing = <Result>(work: Promise<Result>): Promise<Result | undefined> =>
  work.catch(() => undefined);

const versionOf = ({ mtimeMs, size, ino }: Stats): string => `${mtimeMs} ${size} ${ino}`;

/** The sources below a folder, with what changes when they do. What vanishes meanwhile is not there. */
async function readVersions(folder: string, below = ''): Promise<Map<string, string>> {
  const entries: Dirent[] =
    (await orNothing(readdir(join(folder, below), { withFileTypes: true }))) ?? [];
  const versions = new Map<string, string>();
  for (const entry of entries) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) {
      if (isIgnored(entry.name)) continue;
      for (const [name, version] of await readVersions(folder, path)) versions.set(name, version);
    } else if (isSourceOfApp(entry.name)) {
      const found = await orNothing(stat(join(folder, path)));
      if (found) versions.set(path, versionOf(found));
    }
  }
  return versions;
}

/** A file that is new, gone or another one than before; undefined: none is. */
const changedFile = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string | undefined =>
  [...after.keys(), ...before.keys()].find((path) => before.get(path) !== after.get(path));

/**
 * Tells of changes of an app's sources until it is stopped, each time with one of the files, once nothing changes any more.
 * It looks at the files again and again: watchers of the system lose a file that an editor replaces by another one.
 */
export async function watchSources(
  folder: string,
  onChange: (path: string) => void,
): Promise<{ stop: () => void }> {
  const stopped = new AbortController();
  let told = await readVersions(folder);
  let last = told;
  const watch = async () => {
    for (;;) {
      await delay(LOOK_MS, undefined, { signal: stopped.signal, ref: false });
      const now = await readVersions(folder);
      const changed = changedFile(told, now);
      const isSettled = changedFile(last, now) === undefined;
      last = now;
      if (changed === undefined || !isSettled || stopped.signal.aborted) continue;
      told = now;
      onChange(changed);
    }
  };
  watch().catch(() => undefined);
  return { stop: () => stopped.abort() };
}
