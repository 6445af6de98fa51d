import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The text of a file, by its path in the repository. */
export const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

/** The files below some folders whose names match, as paths in the repository. */
export const filesBelow = (folders: readonly string[], pattern: RegExp) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => pattern.test(name))
      .map((name) => join(folder, name)),
  );

/** What the first group of a pattern finds, everywhere in a text. */
export const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

export const unique = (names: readonly string[]) => [...new Set(names)].toSorted();
