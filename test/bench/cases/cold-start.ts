import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { once } from '../../../shared/once.ts';
import type { BenchCase } from '../bench-case.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const firstAnswer = fileURLToPath(new URL('../cold-start/first-answer.ts', import.meta.url));
const scratch = join(root, 'node_modules/.cache/recap-cold-start');

const node = (cwd: string, ...line: string[]) =>
  execFileSync(process.execPath, line, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

function emptyFolder(name: string): string {
  const folder = join(scratch, `${name}-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The archive as it lies in an image: unpacked, its code compiled. */
const packed = once(() => {
  const folder = emptyFolder('packed');
  node(root, join(root, 'test/bench/cold-start/unpack.ts'), folder);
  node(folder, 'warm.cjs');
  return folder;
});

/** The least that the framework starts. */
const empty = once(() => {
  const folder = emptyFolder('empty');
  writeFileSync(
    join(folder, 'index.cjs'),
    `require('@google-cloud/functions-framework').http('empty', (_, response) => response.send('ok'));`,
  );
  writeFileSync(join(folder, 'package.json'), '{"main":"index.cjs"}');
  return folder;
});

const answerMs = (folder: string, target: string, expected: { path: string; status: number }) => {
  const place = ['--folder', folder, '--target', target, '--path', expected.path];
  return Number(node(root, firstAnswer, ...place, '--status', String(expected.status)));
};

/** From the start of the process to the first answer, of the packed functions and of one that does nothing. */
export const coldStartCases = (): BenchCase[] =>
  [
    { target: 'chat', aim: 2, expected: { path: '/v1/health', status: 200 } },
    // A GET is no push: the worker is loaded, and asks nobody.
    { target: 'compaction', aim: 2.5, expected: { path: '/', status: 405 } },
  ].map(({ target, aim, expected }) => ({
    name: `cold-${target}`,
    unit: 'ms',
    referenceName: 'an empty function of the framework',
    direction: 'atMost',
    aim,
    ours: () => answerMs(packed(), target, expected),
    reference: () => answerMs(empty(), 'empty', { path: '/', status: 200 }),
  }));
