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

/** Notes that `used` is, and removes what nothing has used for a month beside it. */
async function forgetUnused(folder: string, used: string): Promise<void> {
  const now = new Date();
  await utimes(used, now, now);
  const names = await readdir(folder);
  const removals = names.map(async (name) => {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    if (now.getTime() - mtimeMs > 30 * DAY_MS) await rm(path, { recursive: true, force: true });
  });
  // Another process may be quicker.
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
  if (!existsSync(made)) {
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
  await forgetUnused(cache, made);
  return made;
}
