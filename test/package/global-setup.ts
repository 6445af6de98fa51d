import { openServer } from '#infra/local/processes/open-server.ts';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the file of the npm package as soon as it is packed. */
    packedUrl: string;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

async function pack(folder: string): Promise<string> {
  const args = ['pack', '--silent', '--pack-destination', folder];
  await promisify(execFile)('npm', args, { cwd: root });
  const [file = ''] = await readdir(folder);
  return join(folder, file);
}

/** Packs the npm package once for all test files that use it, while other tests run: it takes 16 s of processor time. */
// oxlint-disable-next-line import/no-default-export -- what vitest loads
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  await mkdir(join(root, 'dist'), { recursive: true });
  const folder = await mkdtemp(join(root, 'dist/packed-'));
  const packing = pack(folder).then(
    (file) => ({ file }),
    (error: unknown) => ({ error: String(error) }),
  );
  const server = createServer((_, response) => {
    void packing.then((packed) => response.end(JSON.stringify(packed)));
  });
  const { url, close } = await openServer(server);
  provide('packedUrl', url);
  return async () => {
    await packing;
    await close();
    await rm(folder, { recursive: true, force: true });
  };
}
