import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The npm package as a file. */
    packed: string;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Packs the npm package once for all test files that use it: types, bundles and page take 16 s of processor time. */
// oxlint-disable-next-line import/no-default-export -- what vitest loads
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  await mkdir(join(root, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(root, 'dist/packed-'));
  await promisify(execFile)('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: root,
  });
  const [file = ''] = await readdir(folder);
  provide('packed', join(folder, file));
  return () => rm(folder, { recursive: true, force: true });
}
