import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { archiveFiles } from '#infra/package/archive.ts';
import { repository } from '#infra/package/bundle.ts';
import { once } from '#shared/lib/once.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');
const scratch = join(root, 'node_modules/.cache/recap-cold-start');

function emptyFolder(name: string): string {
  const folder = join(scratch, `${name}-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Where the archive lies as in an image: unpacked, its code compiled. */
export const packedFolder = once(async () => {
  const folder = emptyFolder('packed');
  for (const [name, content] of await archiveFiles(repository(root)))
    await writeFile(join(folder, name), content);
  execFileSync(process.execPath, ['warm.cjs'], { cwd: folder });
  return folder;
});

/** Where the least lies that the framework starts: its function is called `empty`. */
export const emptyFunctionFolder = once(() => {
  const folder = emptyFolder('empty');
  writeFileSync(
    join(folder, 'index.cjs'),
    `require('@google-cloud/functions-framework').http('empty', (_, response) => response.send('ok'));`,
  );
  writeFileSync(join(folder, 'package.json'), '{"main":"index.cjs"}');
  return folder;
});
