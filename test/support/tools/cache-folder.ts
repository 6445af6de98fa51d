import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Where what tests install or compile stays for all clones of this repository: `npm ci` empties `node_modules`. */
export const cacheFolder = (name: string): string =>
  // One that is set and empty counts as none.
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'recap', name);

/** Notes that a folder is used. Whether it is there: one that may only be read is, too. */
async function touch(folder: string): Promise<boolean> {
  const now = new Date();
  return utimes(folder, now, now).then(
    () => true,
    () => existsSync(folder),
  );
}

/** Removes what nothing has used for a month, as far as it may be removed. */
async function removeUnused(cache: string): Promise<void> {
  const names = await readdir(cache).catch(() => []);
  const removals = names.map(async (name) => {
    const path = join(cache, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs <= 30 * DAY_MS) return;
    // At once out of the way of whoever wants it now; what is left of it by a kill is removed the next time.
    const gone = join(cache, randomUUID());
    await rename(path, gone);
    await rm(gone, { recursive: true });
  });
  await Promise.allSettled(removals);
}

/** A folder that `make` has filled, now or in an earlier run: `name` tells what it is made of. Throws what `make` throws. */
export async function madeOnce(
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  await mkdir(cacheFolder('tests'), { recursive: true });
  const cache = await realpath(cacheFolder('tests'));
  const made = join(cache, name);
  if (!(await touch(made))) {
    const folder = join(cache, randomUUID());
    try {
      await mkdir(folder);
      await make(folder);
      await rename(folder, made).catch((error: unknown) => {
        // Another process may have made the same meanwhile.
        if (!existsSync(made)) throw error;
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  await removeUnused(cache);
  return made;
}
