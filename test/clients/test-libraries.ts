import { writeFile } from 'node:fs/promises';
import { type Installed, loadInstalled } from '#test/support/processes/install-packages.ts';
import { expect, inject, test } from 'vitest';
import { rowsOfPage, versionOf } from './clients-page.ts';
import type { Library } from './talk.ts';
import { tryLibrary, type Places } from './trials.ts';

const { url } = inject('clients');
/** Set by `npm run clients`: a folder that gets what came of each library. */
const resultsFolder = process.env.RECAP_CLIENT_RESULTS;

/** On a busy machine; without other work a library takes a tenth of it. */
const TEST_TIMEOUT_MS = 180_000;

const ask = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json();

const newPlaces = async (): Promise<Places> => (await ask('/places')) as Places;

/** Where the libraries are, or why they are missing. Throws what npm said, if that is a failure. */
async function findLibraries(): Promise<Installed> {
  const found = (await ask('/libraries')) as Installed | { error: string };
  if ('error' in found) throw new Error(found.error);
  return found;
}

/** A package that only the tests of clients have; what is used of it is declared by the caller. */
export async function load<Used>(name: string): Promise<Used> {
  const found = await findLibraries();
  if ('missing' in found) throw new Error(found.missing);
  return loadInstalled<Used>(found.folder, name);
}

/**
 * Tries each library and compares what came of it with its row in docs/reference/clients.md. `libraries` is asked for
 * them when the tests run. `isInstalled`: npm has to install them first.
 */
export function testLibraries(
  names: readonly string[],
  libraries: () => Promise<Readonly<Record<string, Library>>>,
  { isInstalled = false } = {},
): void {
  test.concurrent.for(names)(
    'the library %s can do with the chat function what docs/reference/clients.md says',
    { timeout: TEST_TIMEOUT_MS },
    async (name, { skip }) => {
      const found = isInstalled ? await findLibraries() : undefined;
      if (found !== undefined && 'missing' in found) skip(found.missing);
      const library = (await libraries())[name];
      if (library === undefined) throw new Error(`there is no library ${name}`);
      const cells = { version: await versionOf(name), ...(await tryLibrary(library, newPlaces)) };

      if (resultsFolder !== undefined) {
        const file = `${resultsFolder}/${encodeURIComponent(name)}.json`;
        await writeFile(file, JSON.stringify(cells));
      }

      const expected = resultsFolder === undefined ? (await rowsOfPage())[name] : cells;
      expect(cells).toEqual(expected);
    },
  );
}
