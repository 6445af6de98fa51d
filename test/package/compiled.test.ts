import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compiledModules, moduleWrapper } from '#infra/package/runtime/compiled.ts';

const NAMES = ['one.cjs', 'two.cjs'];
let folder: string;

const within = (code: string) => `${moduleWrapper.before} ${code}\n${moduleWrapper.after}`;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recap-compiled-'));
  await writeFile(
    join(folder, 'one.cjs'),
    within(`const { basename } = require('node:path');
module.exports = { two: require('./two.cjs'), again: require('./two.cjs'), file: basename(__filename), where: () => new Error().stack };`),
  );
  await writeFile(join(folder, 'two.cjs'), within(`exports.greet = () => 'hello';`));
});

afterEach(() => rm(folder, { recursive: true }));

interface One {
  two: { greet: () => string };
  again: object;
  file: string;
  where: () => string;
}

const loadOne = () => {
  const modules = compiledModules(folder, NAMES);
  return { ...modules, one: modules.load('one.cjs') as One };
};

test('code loaded from the compile cache behaves the same', async () => {
  const { one, keep } = loadOne();
  one.two.greet();
  keep();

  expect(await readdir(folder)).toEqual([
    'one.cjs',
    'one.cjs.compiled',
    'two.cjs',
    'two.cjs.compiled',
  ]);
  expect(loadOne().one.two.greet()).toBe('hello');
});

test('stack traces of compiled files keep the source’s lines', () => {
  const { one } = loadOne();

  expect(one.where()).toContain(`${join(folder, 'one.cjs')}:2:`);
});
