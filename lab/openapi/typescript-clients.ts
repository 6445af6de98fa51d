import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun, runTool, type ToolRun } from './run-tool.ts';

/** As strict as a project can be. */
const compilerOptions = {
  strict: true,
  noEmit: true,
  target: 'es2023',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2023', 'dom', 'dom.iterable'],
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  types: [],
};

/** Makes clients of openapi-typescript and @hey-api/openapi-ts below `folder`, and compiles them. Throws Error. */
export async function checkTypeScriptClients(document: string, folder: string): Promise<ToolRun> {
  await mkdir(folder, { recursive: true });
  await copyFile(new URL('clients/package.json', import.meta.url), join(folder, 'package.json'));
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['types.d.ts', 'client'] }),
  );
  const here = { cwd: folder };
  await mustRun('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], here);
  await mustRun('npx', ['openapi-typescript', document, '-o', 'types.d.ts'], here);
  await mustRun('npx', ['openapi-ts', '-i', document, '-o', 'client', '--silent'], here);
  return runTool('npx', ['tsc', '-p', 'tsconfig.json'], here);
}
