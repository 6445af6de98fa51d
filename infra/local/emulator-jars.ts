import { execFile } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

export type EmulatorName = 'firestore' | 'pubsub';

/** What to hand to `java` before the emulator's own arguments. */
interface EmulatorJars {
  source: 'gcloud' | 'firebase-tools';
  javaArguments: Readonly<Partial<Record<EmulatorName, readonly string[]>>>;
}

const FIRESTORE_MAIN = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';
/** `gcloud info` takes seconds, more on a busy machine; it is asked last. */
const GCLOUD_INFO_TIMEOUT_MS = 30_000;

/**
 * The emulators' jars: of the Cloud SDK, else those that firebase-tools has downloaded. `undefined` unless one of
 * the two has all of `wanted`.
 */
export async function findEmulatorJars(
  wanted: readonly EmulatorName[],
): Promise<EmulatorJars | undefined> {
  const hasAll = (found: EmulatorJars): boolean =>
    wanted.every((name) => found.javaArguments[name] !== undefined);
  const known = cloudSdkRoots().map(cloudSdkJars).find(hasAll) ?? [firebaseJars()].find(hasAll);
  if (known !== undefined) return known;
  const root = await rootFromGcloud();
  return root === undefined ? undefined : [cloudSdkJars(root)].find(hasAll);
}

function cloudSdkJars(root: string): EmulatorJars {
  const firestore = join(root, 'platform/cloud-firestore-emulator/cloud-firestore-emulator.jar');
  const pubsub = newest(
    join(root, 'platform/pubsub-emulator/lib'),
    /^cloud-pubsub-emulator.*\.jar$/u,
  );
  return {
    source: 'gcloud',
    javaArguments: {
      ...(existsSync(firestore) && { firestore: ['-cp', firestore, FIRESTORE_MAIN] }),
      ...(pubsub !== undefined && { pubsub: ['-jar', pubsub] }),
    },
  };
}

/** Places of an SDK that need no slow call to find. */
function cloudSdkRoots(): string[] {
  const roots = [
    process.env.CLOUDSDK_ROOT_DIR,
    ...(process.env.PATH ?? '').split(delimiter).map(rootOfGcloudIn),
    '/usr/lib/google-cloud-sdk',
    join(homedir(), 'google-cloud-sdk'),
    '/snap/google-cloud-sdk/current',
    '/snap/google-cloud-cli/current',
    '/opt/homebrew/share/google-cloud-sdk',
    '/usr/local/share/google-cloud-sdk',
  ];
  return roots.flatMap((root) => (root && existsSync(root) ? [root] : []));
}

function rootOfGcloudIn(folder: string): string | undefined {
  const command = join(folder, 'gcloud');
  return folder !== '' && existsSync(command) ? dirname(dirname(realpathSync(command))) : undefined;
}

async function rootFromGcloud(): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(
      'gcloud',
      ['info', '--format=value(installation.sdk_root)'],
      { timeout: GCLOUD_INFO_TIMEOUT_MS },
    );
    return stdout.trim() || undefined;
  } catch {
    return undefined; // no gcloud, or none that works
  }
}

function firebaseJars(): EmulatorJars {
  const folder =
    process.env.FIREBASE_EMULATORS_PATH ?? join(homedir(), '.cache/firebase/emulators');
  const firestore = newest(folder, /^cloud-firestore-emulator-v.*\.jar$/u);
  const unpacked = newest(folder, /^pubsub-emulator-[\d.]+$/u);
  const pubsub =
    unpacked && newest(join(unpacked, 'pubsub-emulator/lib'), /^cloud-pubsub-emulator.*\.jar$/u);
  return {
    source: 'firebase-tools',
    javaArguments: {
      ...(firestore !== undefined && { firestore: ['-jar', firestore] }),
      ...(pubsub !== undefined && { pubsub: ['-jar', pubsub] }),
    },
  };
}

/** The entry of a folder with the highest version in its name. */
function newest(folder: string, pattern: RegExp): string | undefined {
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder)
    .filter((entry) => pattern.test(entry))
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);
  return name === undefined ? undefined : join(folder, name);
}
