import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecapStore } from '../api.ts';

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const fileName = (key: string): string => encodeURIComponent(key);

/** A file that is not finished after so long was left by a program that was killed. */
const UNFINISHED_MS = 3_600_000;

const isLeft = async (path: string): Promise<boolean> => {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
  return Date.now() - mtimeMs > UNFINISHED_MS;
};

/** In files of a folder, in Node: one folder for each user. */
export function fileStore(folder: string): RecapStore {
  const ready = mkdir(folder, { recursive: true });
  const pathOf = async (name: string): Promise<string> => {
    await ready;
    return join(folder, name);
  };
  return {
    get: async (key) => {
      const text = readFile(await pathOf(fileName(key)), 'utf8');
      return text.catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
    },
    set: async (key, value) => {
      // A name that no key has: whoever is killed in the middle leaves the value before.
      const path = await pathOf(`~${randomUUID()}`);
      const file = await open(path, 'w');
      try {
        await file.writeFile(value);
      } finally {
        await file.close();
      }
      await rename(path, await pathOf(fileName(key)));
    },
    delete: async (key) => rm(await pathOf(fileName(key)), { force: true }),
    keys: async (prefix) => {
      const names = await readdir(await pathOf('.'));
      for (const name of names.filter((each) => each.startsWith('~')))
        if (await isLeft(join(folder, name))) await rm(join(folder, name), { force: true });
      const keys = names.filter((name) => !name.startsWith('~')).map(decodeURIComponent);
      return keys.filter((key) => key.startsWith(prefix)).sort();
    },
  };
}
