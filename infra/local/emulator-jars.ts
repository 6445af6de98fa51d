import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** What to hand to `java` before the emulator's own arguments. */
export interface EmulatorJars {
  source: 'gcloud' | 'firebase-tools';
  firestore: readonly string[];
  pubsub: readonly string[];
}

const FIRESTORE_MAIN = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';

/** The jars of both emulators: of the Cloud SDK, else those that firebase-tools has downloaded. */
export function findEmulatorJars(): EmulatorJars | undefined {
  return cloudSdkRoots().flatMap((root) => cloudSdkJars(root) ?? [])[0] ?? firebaseJars();
}

function cloudSdkJars(root: string): EmulatorJars | undefined {
  const firestore = join(root, 'platform/cloud-firestore-emulator/cloud-firestore-emulator.jar');
  const pubsub = newest(
    join(root, 'platform/pubsub-emulator/lib'),
    /^cloud-pubsub-emulator.*\.jar$/u,
  );
  if (!existsSync(firestore) || pubsub === undefined) return undefined;
  return {
    source: 'gcloud',
    firestore: ['-cp', firestore, FIRESTORE_MAIN],
    pubsub: ['-jar', pubsub],
  };
}

/** Where an SDK may be. `gcloud info` would tell, but takes seconds. */
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

function firebaseJars(): EmulatorJars | undefined {
  const folder =
    process.env.FIREBASE_EMULATORS_PATH ?? join(homedir(), '.cache/firebase/emulators');
  const firestore = newest(folder, /^cloud-firestore-emulator-v.*\.jar$/u);
  const unpacked = newest(folder, /^pubsub-emulator-[\d.]+$/u);
  const pubsub =
    unpacked && newest(join(unpacked, 'pubsub-emulator/lib'), /^cloud-pubsub-emulator.*\.jar$/u);
  if (firestore === undefined || pubsub === undefined) return undefined;
  return { source: 'firebase-tools', firestore: ['-jar', firestore], pubsub: ['-jar', pubsub] };
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
