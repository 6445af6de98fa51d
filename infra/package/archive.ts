import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { bundleFunctions, DOCUMENT, FRAMEWORK, type Project } from './bundle.ts';
import { lockClosure, type Lock, lockSchema } from './lock-closure.ts';
import type { Files } from './zip.ts';
import { isSource } from '#infra/local/script-path.ts';

/** Every file of an archive; nothing else is ever in one. */
export const SHIPPED = [
  'LICENSE',
  'index.cjs',
  'index.cjs.map',
  'main.cjs',
  DOCUMENT,
  'package-lock.json',
  'package.json',
  'sdk.cjs',
  'sdk.cjs.LEGAL.txt',
  'warm.cjs',
] as const;

/** Recap's own. */
const LICENSE = new URL('../../LICENSE', import.meta.url);
const API_DOCUMENT = new URL('../../docs/reference/openapi.json', import.meta.url);

/** Recap's own, in the package what the framework takes of it: an app's project need not be installed by npm. */
const RECAP_LOCK = new URL(
  isSource ? '../../package-lock.json' : './runtime/package-lock.json',
  import.meta.url,
);

const manifestSchema = z.object({
  name: z.string(),
  version: z.string().default('0.0.0'),
  license: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).default({}),
});

async function readRequired(rootDirectory: string, file: string): Promise<string> {
  try {
    return await readFile(join(rootDirectory, file), 'utf8');
  } catch (error) {
    throw new Error(
      `${file} cannot be read in ${rootDirectory}: run this in the folder of the project, after npm install`,
      { cause: error },
    );
  }
}

/** Throws Error where what package.json asks for is not what is locked. */
function checkLock(lock: Lock, dependencies: Readonly<Record<string, string>>): void {
  const locked = lock.packages['']?.dependencies ?? {};
  const differing = Object.keys({ ...dependencies, ...locked }).filter(
    (name) => dependencies[name] !== locked[name],
  );
  if (differing.length > 0)
    throw new Error(
      `package.json and package-lock.json do not agree on ${differing.join(', ')}: run npm install and commit both`,
    );
}

const jsonBytes = (value: object) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

/** What the buildpack reads: one dependency, its lock, and the script that it runs before it prunes. */
function manifests(root: z.infer<typeof manifestSchema>, lock: Lock): [string, Uint8Array][] {
  const version = lock.packages[`node_modules/${FRAMEWORK}`]?.version ?? '';
  const { name, license } = root;
  const dependencies = { [FRAMEWORK]: version };
  return [
    [
      'package.json',
      jsonBytes({
        name,
        version: root.version,
        license,
        private: true,
        type: 'commonjs',
        main: 'main.cjs',
        scripts: { 'gcp-build': 'node warm.cjs' },
        dependencies,
      }),
    ],
    [
      'package-lock.json',
      jsonBytes({
        name,
        version: root.version,
        lockfileVersion: lock.lockfileVersion,
        requires: true,
        packages: {
          '': { name, version: root.version, license, dependencies },
          ...Object.fromEntries(lockClosure(lock, [FRAMEWORK])),
        },
      }),
    ],
  ];
}

/** Throws Error where an archive would hold more or less than `SHIPPED` says. */
export function checkShipped(names: readonly string[]): void {
  const shipped: readonly string[] = SHIPPED;
  const extra = names.filter((name) => !shipped.includes(name));
  const missing = shipped.filter((name) => !names.includes(name));
  if (extra.length + missing.length > 0)
    throw new Error(
      `an archive holds ${shipped.join(', ')}; here ${extra.join(', ') || 'nothing'} is too much and ${missing.join(', ') || 'nothing'} is missing (SHIPPED in infra/package/archive.ts)`,
    );
}

/** The files of the archive of both functions. Throws Error that says what is missing or must not be there. */
export async function archiveFiles(project: Project): Promise<Files> {
  const [manifest, lockText, license, document] = await Promise.all([
    readRequired(project.root, 'package.json'),
    project.lock === 'own'
      ? readRequired(project.root, 'package-lock.json')
      : readFile(RECAP_LOCK, 'utf8'),
    readFile(LICENSE),
    readFile(API_DOCUMENT, 'utf8'),
  ]);
  const root = manifestSchema.parse(JSON.parse(manifest));
  const lock = lockSchema.parse(JSON.parse(lockText));
  if (project.lock === 'own') checkLock(lock, root.dependencies);
  const files = new Map<string, Uint8Array>([
    ...(await bundleFunctions(project)),
    ...manifests(root, lock),
    ['LICENSE', license],
    [DOCUMENT, Buffer.from(JSON.stringify(JSON.parse(document)))],
  ]);
  checkShipped([...files.keys()]);
  return files;
}
