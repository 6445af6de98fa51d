import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecapStore } from '../api.ts';

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

const fileName = (key: string): string => encodeURIComponent(key);

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
      const keys = names.filter((name) => !name.startsWith('~')).map(decodeURIComponent);
      return keys.filter((key) => key.startsWith(prefix)).sort();
    },
  };
}
