import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';

/* Row S21 of the security checklist: what comes from others, and what of it may run where. */

const root = new URL('../../../', import.meta.url);

const versions = z.record(z.string(), z.string()).default({});
const lockSchema = z.object({
  lockfileVersion: z.number(),
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      link: z.boolean().optional(),
      dev: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
      dependencies: versions,
      devDependencies: versions,
    }),
  ),
});
const manifestSchema = z.object({
  dependencies: versions,
  devDependencies: versions,
  scripts: versions,
  allowScripts: z.record(z.string(), z.boolean()),
});

const readJson = async <T>(file: string, schema: z.ZodType<T>): Promise<T> =>
  schema.parse(JSON.parse(await readFile(new URL(file, root), 'utf8')));

const lock = await readJson('package-lock.json', lockSchema);
const manifest = await readJson('package.json', manifestSchema);
const installed = Object.entries(lock.packages).filter(([path]) => path !== '');
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 13);

const EXACT = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/u;

test('S21: every package that is asked for is asked for in one version, as the lockfile has it', () => {
  const { dependencies, devDependencies } = manifest;
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !EXACT.test(version.replace(/^npm:[^@]+@/u, '')),
  );

  expect(loose).toEqual([]);
  const asked = lock.packages[''];
  expect([asked?.dependencies, asked?.devDependencies]).toEqual([dependencies, devDependencies]);
});

test('S21: every package of the lockfile has one version and a content hash', () => {
  const bad = installed.filter(
    ([, { version = '', integrity = '', link }]) =>
      link === true || !EXACT.test(version) || !/^sha512-[\w+/]{86}==$/u.test(integrity),
  );

  expect(lock.lockfileVersion).toBe(3);
  expect(installed.length).toBeGreaterThan(300);
  expect(bad.map(([path]) => path)).toEqual([]);
});

test('S21: no package comes from a git repository, a URL or a folder', () => {
  const addresses = installed.flatMap(([, { resolved }]) =>
    resolved === undefined ? [] : [resolved],
  );
  const wanted = installed.flatMap(([path, { dependencies }]) =>
    Object.entries(dependencies).map(([name, range]) => `${path} wants ${name} ${range}`),
  );

  expect(addresses.filter((address) => !/^https:\/\/registry\.[\w.-]+\//u.test(address))).toEqual(
    [],
  );
  expect(wanted.filter((each) => / (?:git|https?|file|link|github):/u.test(each))).toEqual([]);
});

test('S21: only approved packages may run scripts when installed', () => {
  const withScript = installed
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => nameOf(path));

  expect(withScript.toSorted()).toEqual(Object.keys(manifest.allowScripts).toSorted());
});
