import { writeFile } from 'node:fs/promises';
import { loadInstalled } from '#test/support/processes/install-packages.ts';
import { expect, inject, test } from 'vitest';
import { rowsOfPage, versionOf } from './clients-page.ts';
import type { Library } from './talk.ts';
import { tryLibrary, type Places } from './trials.ts';

const { placesUrl, installed, missing } = inject('clients');
/** Set by `npm run clients`: a folder that gets what came of each library. */
const resultsFolder = process.env.RECAP_CLIENT_RESULTS;

/** On a busy machine; without other work a library takes a tenth of it. */
const TEST_TIMEOUT_MS = 180_000;

const newPlaces = async (): Promise<Places> => (await (await fetch(placesUrl)).json()) as Places;

/** A package that only the tests of clients have; what is used of it is declared by the caller. */
export const load = <Used>(name: string): Promise<Used> => loadInstalled<Used>(installed, name);

/**
 * Tries each library and compares what came of it with its row in docs/reference/clients.md. `libraries` is asked for
 * them when the tests run. `isInstalled`: npm has to install them first.
 */
export function testLibraries(
  names: readonly string[],
  libraries: () => Promise<Readonly<Record<string, Library>>>,
  { isInstalled = false } = {},
): void {
  test.skipIf(isInstalled && missing !== undefined).concurrent.each(names)(
    'the library %s can do with the chat function what docs/reference/clients.md says',
    async (name) => {
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
    TEST_TIMEOUT_MS,
  );
}
