import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer } from 'node:http2';
import { promisify } from 'node:util';
import type * as FirestoreSdk from '@google-cloud/firestore';
import { unzipSync } from 'fflate';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { archiveFiles, checkShipped, SHIPPED } from '#infra/package/archive.ts';
import { appProject, repository } from '#infra/package/bundle.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { compiledModules } from '#infra/package/runtime/compiled.ts';
import { type Files, toZip } from '#infra/package/zip.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const run = promisify(execFile);

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'recap-package-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** A repository that has nothing but what is given. */
async function repositoryOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

let files: Files;
let zip: Uint8Array;
beforeAll(async () => {
  files = await archiveFiles(repository(root));
  zip = toZip(files);
});

const textOf = (name: string) => Buffer.from(files.get(name) ?? []).toString();
const sourcesOf = (map: string): string[] => JSON.parse(map).sources;

describe('the archive', () => {
  test('the archive holds every byte of the files of its list, and nothing else', () => {
    const unpacked = unzipSync(zip);

    expect(Object.keys(unpacked)).toEqual(SHIPPED);
    const changed = SHIPPED.filter(
      (name) => !Buffer.from(unpacked[name] ?? []).equals(files.get(name) ?? new Uint8Array()),
    );
    expect(changed).toEqual([]);
  });

  test('the archive holds functions, shared and packages alone', () => {
    const sources = sourcesOf(textOf('index.cjs.map'));

    const folders = new Set(sources.map((source) => source.split('/', 1)[0] ?? ''));
    expect([...folders].filter((folder) => !folder.startsWith('sdk:'))).toHaveLength(3);
    expect(folders).toContain('functions');
    expect(folders).toContain('node_modules');
    expect(folders).toContain('shared');
    expect(sources).toContain('functions/src/index.ts');
    expect(sources).toContain('functions/src/worker/push/handle-push.ts');
  });

  test('the archive describes the requests for documents, and none of those for databases and regions', () => {
    const sdks = textOf('sdk.cjs');

    expect(sdks).toContain('BatchGetDocumentsRequest');
    expect(sdks).not.toContain('ExportDocumentsRequest');
    expect(sdks).not.toContain('ListLocationsRequest');
    // A client would make descriptors of all that it can send.
    expect(sdks).not.toContain('toDescriptor("proto3")');
  });

  test('the archive names nothing of this machine', () => {
    const telling = [...files].filter(([, content]) => Buffer.from(content).includes(root));

    expect(telling.map(([name]) => name)).toEqual([]);
  });

  test('the archive asks the buildpack for the framework alone, locked', () => {
    const manifest = JSON.parse(textOf('package.json'));
    const lock = JSON.parse(textOf('package-lock.json'));

    expect(manifest).toMatchObject({ main: 'main.cjs', scripts: { 'gcp-build': 'node warm.cjs' } });
    expect(Object.keys(manifest.dependencies)).toEqual(['@google-cloud/functions-framework']);
    expect(lock.packages[''].dependencies).toEqual(manifest.dependencies);
    expect(lock.packages['node_modules/express'].integrity).toMatch(/^sha512-/);
    expect(Object.keys(lock.packages).some((path) => path.includes('vitest'))).toBe(false);
  });
});

/** A server of gRPC that answers every call with an empty message. */
async function startEmptyGrpcServer() {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
  return openServer(server);
}

test('the archive’s Firestore takes 300 commits at once, closes the clients that it no longer needs, and ends', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'sdk.cjs'), files.get('sdk.cjs') ?? '');
  const { firestore } = compiledModules(folder, ['sdk.cjs']).load('sdk.cjs') as {
    firestore: typeof FirestoreSdk;
  };
  const server = await startEmptyGrpcServer();
  const settings = { host: server.host, ssl: false };
  const database = new firestore.Firestore({ projectId: 'demo-archive', ...settings });
  // Where an emulator is named by the environment, the client takes that in the place of the server.
  const commit = (index: number) =>
    database
      .batch()
      .set(database.doc(`things/${index}`), {})
      .commit();

  const commits = await Promise.allSettled(
    Array.from({ length: 300 }, (_, index) => commit(index)),
  );

  expect(commits.filter(({ status }) => status === 'rejected')).toEqual([]);
  await expect(database.terminate()).resolves.toBeUndefined();
  await server.close();
});

const pack = (file: string, environment: object) =>
  run(process.execPath, [join(root, 'infra/package/package.ts'), '--out', file], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], ...environment },
  });

test('npm run package writes the same bytes under another umask, clock, locale and folder', async () => {
  const file = join(await temporaryFolder(), 'below', 'recap.zip');

  const { stdout } = await pack(file, { TZ: 'Asia/Tokyo', LANG: 'tr_TR.UTF-8', HOME: '/' });

  expect((await readFile(file)).equals(zip)).toBe(true);
  expect(stdout).toMatch(/sha256 {3}[0-9a-f]{64}\n/);
});

describe('what cannot be packed', () => {
  const manifest = JSON.stringify({
    name: 'recap',
    version: '1.0.0',
    license: 'none',
    dependencies: { zod: '4.0.0' },
  });

  test('packaging without a lock file fails and names the file', async () => {
    const folder = await repositoryOf({ 'package.json': manifest, LICENSE: '' });

    await expect(archiveFiles(repository(folder))).rejects.toThrow(
      /package-lock\.json cannot be read .* npm install/,
    );
  });

  const KEY = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQ'.repeat(10)}\n-----END PRIVATE KEY-----\n`;
  test.each([
    ['a test', 'helpers.test.ts', 'export default 1;'],
    ['the key of a service account', 'account.json', JSON.stringify({ private_key: KEY })],
    ['a key as text', 'src/key.ts', `export default \`${KEY}\`;`],
  ])('packaging an app’s project refuses %s, and names who imports it', async (_, path, text) => {
    const folder = await repositoryOf({
      'package.json': JSON.stringify({ name: 'app', dependencies: {} }),
      'package-lock.json': JSON.stringify({ lockfileVersion: 3, packages: { '': {} } }),
      'index.ts': `import given from './${path}';\nexport const chat = () => given;\n`,
      [path]: text,
    });

    await expect(archiveFiles(appProject(folder, 'index.ts'))).rejects.toThrow(
      `${path}, imported by index.ts`,
    );
  });

  test('packaging reports a file that is not on the list', () => {
    expect(() => checkShipped([...SHIPPED, '.env'])).toThrow(/\.env is too much/);
    expect(() => checkShipped(SHIPPED.slice(1))).toThrow(/LICENSE is missing/);
  });
});
