import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchSources } from '#infra/local/watch-sources.ts';
import { eventually } from '../support/eventually.ts';

/** A project that is watched, and what has been told of it. */
async function watched() {
  const folder = await mkdtemp(join(tmpdir(), 'recap-watch-'));
  const write = async (path: string, text = String(performance.now())) => {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await write('index.ts');
  const told: string[] = [];
  const watching = await watchSources(folder, (path) => told.push(path));
  onTestFinished(async () => {
    watching.stop();
    await rm(folder, { recursive: true });
  });
  const next = (path: string) =>
    eventually(`${path} is told`, async () => (told.at(-1) === path ? told.splice(0) : undefined));
  return { folder, write, told, next };
}

test('a change of a source is told, one by one: saved in place, replaced as editors do, new, in a new folder, gone', async () => {
  const { folder, write, next } = await watched();

  await write('index.ts');
  expect(await next('index.ts')).toEqual(['index.ts']);
  for (let time = 0; time < 2; time++) {
    await write('.index.ts.swp');
    await rename(join(folder, '.index.ts.swp'), join(folder, 'index.ts'));
    expect(await next('index.ts')).toEqual(['index.ts']);
  }
  await write('tools/weather/index.mts');
  expect(await next('tools/weather/index.mts')).toEqual(['tools/weather/index.mts']);
  await write('tools/weather/index.mts');
  expect(await next('tools/weather/index.mts')).toEqual(['tools/weather/index.mts']);
  await write('.env');
  expect(await next('.env')).toEqual(['.env']);
  await rm(join(folder, 'tools'), { recursive: true });
  expect(await next('tools/weather/index.mts')).toEqual(['tools/weather/index.mts']);
});

test('changes of what is installed or built, and of files that an app may write itself, are not told', async () => {
  const { write, told, next } = await watched();

  for (const path of ['node_modules/a.ts', 'src/node_modules/a.ts', 'dist/a.js', '.local/a.ts'])
    await write(path);
  await write('notes.md');
  await write('data.json');
  await write('src/redistribute.ts');

  expect(await next('src/redistribute.ts')).toEqual(['src/redistribute.ts']);
  expect(told).toEqual([]);
});
