import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { moduleWrapper } from '#infra/package/runtime/compiled.ts';
import { once } from '#shared/once.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
const scratch = join(root, 'node_modules/.cache/recap-cold-start');

/** What a script of Node prints. Throws where it ends with an error. */
export const printedBy = (cwd: string, line: readonly string[], env?: NodeJS.ProcessEnv): string =>
  execFileSync(process.execPath, line, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(env && { env }),
  });

function emptyFolder(name: string): string {
  const folder = join(scratch, `${name}-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Where the archive lies as in an image: unpacked, its code compiled. */
export const packedFolder = once(() => {
  const folder = emptyFolder('packed');
  printedBy(root, [join(root, 'lab/bench/cold-start/unpack.ts'), folder]);
  printedBy(folder, ['warm.cjs']);
  return folder;
});

/**
 * A function of the framework and the packed SDKs alone, called `alone`: it reads and writes one document for a message, asks
 * the model, and passes its texts on.
 */
export const sdksAloneFolder = once(() => {
  const folder = emptyFolder('alone');
  for (const name of ['main.cjs', 'sdk.cjs', 'sdk.cjs.compiled'])
    copyFileSync(join(packedFolder(), name), join(folder, name));
  const code = readFileSync(join(root, 'lab/bench/cold-start/sdks-alone.cjs'), 'utf8');
  writeFileSync(join(folder, 'index.cjs'), `${moduleWrapper.before}${code}${moduleWrapper.after}`);
  writeFileSync(join(folder, 'package.json'), '{"main":"main.cjs"}');
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
