import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { compileTypeScript } from '#test/recipes/compile-recipes.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import manifest from '../../package.json' with { type: 'json' };
import { readmeFiles } from './readme-blocks.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const run = promisify(execFile);

/** What the pages leave to the app, and packages that the tests do not have. */
const LEFT_TO_THE_APP = `
declare module '@react-native-async-storage/async-storage' {
  const storage: {
    getItem(key: string): Promise<string | null>;
    setItem(key: string, value: string): Promise<void>;
    removeItem(key: string): Promise<void>;
    getAllKeys(): Promise<readonly string[]>;
  };
  export default storage;
}
declare module 'expo-crypto' {
  export function randomUUID(): string;
}
declare module 'firebase/auth' {
  export interface User { uid: string; getIdToken(force?: boolean): Promise<string> }
}
declare module 'react-native' {
  type AppStateStatus = 'active' | 'background' | 'inactive' | 'unknown' | 'extension';
  export const AppState: {
    currentState: AppStateStatus;
    addEventListener(
      type: 'change' | 'memoryWarning' | 'blur' | 'focus',
      listener: (state: AppStateStatus) => void,
    ): { remove(): void };
  };
}
type User = import('firebase/auth').User;
type Recap = import('@recap/client').Recap;
declare const openRecap: (user: User) => Recap;
declare const user: User;
declare const guest: User;
declare const recap: Recap;
declare const guestRecap: Recap;
declare const chat: import('@recap/client').Chat;
declare const baseUrl: string;
declare const token: string;
declare const getIdToken: () => Promise<string>;
declare const conversationId: string;
declare const messageId: string;
declare const uploadId: string;
declare const callId: string;
declare const registrationToken: string;
declare const blob: Blob;
declare const locate: (input: unknown) => Promise<string>;
declare const showRows: (rows: readonly import('@recap/client').Row[]) => void;
declare const showMessages: (messages: readonly import('@recap/client').Message[]) => void;
declare const showHint: (text: string) => void;
`;

/** The strictest of what apps are compiled with. */
const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  target: 'es2022',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  jsx: 'react-jsx',
  types: ['node'],
  noEmit: true,
};

const files = ['typescript', 'react'].flatMap((name) =>
  readmeFiles(new URL(`../../clients/${name}/README.md`, import.meta.url), name),
);

/** Packs a client; the path of the archive. */
async function pack(name: string, into: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', into], {
    cwd: join(root, 'clients', name),
  });
  return join(into, stdout.trim());
}

describe('the packages of the clients', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recap-clients-'));
    // One after the other: both build what the second needs of the first.
    const archives = [await pack('typescript', folder), await pack('react', folder)];
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    // React and the types are those of this repository, so that no registry is asked.
    const install = ['install', '--offline', '--legacy-peer-deps', '--no-audit', '--no-fund'];
    await run('npm', [...install, ...archives], { cwd: folder });
    for (const name of ['react', 'react-dom', '@types']) {
      await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true });
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
    for (const { name, text } of [...files, { name: 'app.d.ts', text: LEFT_TO_THE_APP }])
      await writeFile(join(folder, name), text);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each([
    ['a bundler', { module: 'esnext', moduleResolution: 'bundler' }],
    ['Metro', { module: 'preserve', customConditions: ['react-native'] }],
  ])('all code of their pages compiles with them, as for %s', async (_, resolution) => {
    const compilerOptions = { ...STRICT, ...resolution };
    const names = ['app.d.ts', ...files.map(({ name }) => name)];

    expect(await compileTypeScript(folder, { files: names, compilerOptions })).toEqual([]);
  });

  test('the program of the page compiles as Node resolves modules, where a wrong option does not', async () => {
    const compilerOptions = {
      ...STRICT,
      module: 'nodenext',
      skipLibCheck: false,
      lib: ['ES2022', 'DOM'],
    };
    const compile = (name: string) => compileTypeScript(folder, { files: [name], compilerOptions });
    const program = await readFile(join(folder, 'ask.ts'), 'utf8');
    await writeFile(join(folder, 'wrong.ts'), program.replace('storage:', 'store:'));

    expect(await compile('ask.ts')).toEqual([]);
    expect(await compile('wrong.ts')).toEqual([expect.stringContaining(`'store' does not exist`)]);
  });

  test('the program of the page prints the answer to its message', async () => {
    const server = await startWireServer();
    onTestFinished(() => server.stop());
    const token = (await server.authorization()).replace('Bearer ', '');

    const asked = run(process.execPath, ['ask.ts'], {
      cwd: folder,
      env: { RECAP_URL: server.url, RECAP_TOKEN: token },
    });
    await server.answer('Where is my boat?', 'In the harbour.');

    expect((await asked).stdout).toBe('In the harbour.\n');
  });

  test('a browser loads 15.5 kB at most for a client with its store', async () => {
    const contents = "export { createRecap, indexedDbStore } from '@recap/client';";
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
    });

    expect(gzipSync(outputFiles[0]?.contents ?? '').length).toBeLessThanOrEqual(15.5 * 1024);
  });

  test('they have the version of Recap, its licence, and no dependencies', async () => {
    for (const name of ['client', 'react']) {
      const installed = join(folder, 'node_modules/@recap', name);
      const packed = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
      expect(packed).toMatchObject({ version: manifest.version, license: manifest.license });
      expect(packed.dependencies).toBeUndefined();
      expect(packed.peerDependencies?.['@recap/client']).toBe(
        name === 'react' ? `^${manifest.version}` : undefined,
      );
      expect(existsSync(join(installed, 'dist/LICENSE'))).toBe(true);
    }
  });
});
