import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { madeOnce } from '#test/support/tools/cache-folder.ts';

/** A cache of the test's own, which is empty. */
async function openCache(): Promise<void> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'recap-cache-')));
  vi.stubEnv('XDG_CACHE_HOME', home);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(home, { recursive: true });
  });
}

const writing = (text: string) => (folder: string) => writeFile(join(folder, 'text'), text);
const textIn = (folder: string) => readFile(join(folder, 'text'), 'utf8');

test('what was made is taken the next time', async () => {
  await openCache();
  await madeOnce('a', writing('first'));

  expect(await textIn(await madeOnce('a', writing('second')))).toBe('first');
});

test('what could not be made leaves nothing, and is made the next time', async () => {
  await openCache();
  const failing = async (folder: string) => {
    await writing('half')(folder);
    throw new Error('away');
  };
  await expect(madeOnce('a', failing)).rejects.toThrow('away');

  const folder = await madeOnce('a', writing('whole'));

  expect(await textIn(folder)).toBe('whole');
  expect(await readdir(dirname(folder))).toEqual([basename(folder)]);
});

test('two that make the same at a time have it once, whole', async () => {
  await openCache();

  const [one, two] = await Promise.all(['one', 'two'].map((text) => madeOnce('a', writing(text))));

  expect(one).toBe(two);
  expect(await textIn(one ?? '')).toMatch(/^(?:one|two)$/);
  expect(await readdir(dirname(one ?? ''))).toEqual(['a']);
});

test('what nothing has used for a month is removed, what was used now is not', async () => {
  await openCache();
  const longAgo = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000);
  const [old, kept] = [await madeOnce('a', writing('a')), await madeOnce('b', writing('b'))];
  for (const folder of [old, kept]) await utimes(folder, longAgo, longAgo);

  await madeOnce('b', writing('again'));

  expect([existsSync(old), existsSync(kept)]).toEqual([false, true]);
});
