import { answerStatus, chooseFreePort } from './processes/open-server.ts';
import { startWatched, type WatchedProcess } from './processes/child-process.ts';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** What to hand to `java` before the emulator's own arguments. */
interface EmulatorJars {
  source: 'gcloud' | 'firebase-tools';
  firestore: readonly string[];
  pubsub: readonly string[];
}

const FIRESTORE_MAIN = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';

/** The jars of both emulators: of the Cloud SDK, else those that firebase-tools has downloaded. */
function findEmulatorJars(): EmulatorJars | undefined {
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

export interface Emulators {
  /** `host:port`, for FIRESTORE_EMULATOR_HOST. */
  firestoreHost: string;
  /** `host:port`, for PUBSUB_EMULATOR_HOST. */
  pubsubHost: string;
  source: 'environment' | 'gcloud' | 'firebase-tools';
  /** Resolves with its last output when one that was started here ends unasked; never otherwise. */
  crashed: Promise<string>;
  /** Ends what was started here; emulators named by the environment go on. */
  stop(): Promise<void>;
}

export interface MissingEmulators {
  /** What was not found and how to install it. */
  missing: string;
}

/** Measured on two cores, November 2026: both ready in 1.6 to 1.9 s, instead of 2.6 to 3.3 s without. */
const JVM_FLAGS = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx1g'];
const READY_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 40;

/**
 * The Firestore and the Pub/Sub emulator: those named by FIRESTORE_EMULATOR_HOST and PUBSUB_EMULATOR_HOST, else
 * started here on free ports, from the jars of the Cloud SDK or of firebase-tools. What is started
 * ends with this process, however that ends. `rulesFile` holds Firestore security rules; without it every
 * request is allowed. Throws Error when an emulator was found but does not start.
 */
export async function startEmulators(options: {
  log: (line: string) => void;
  rulesFile?: string;
}): Promise<Emulators | MissingEmulators> {
  const { FIRESTORE_EMULATOR_HOST: firestoreHost, PUBSUB_EMULATOR_HOST: pubsubHost } = process.env;
  if (firestoreHost && pubsubHost) {
    return {
      firestoreHost,
      pubsubHost,
      source: 'environment',
      crashed: new Promise(() => {}),
      stop: async () => {},
    };
  }
  const jars = findEmulatorJars();
  if (jars === undefined) return { missing: MISSING_EMULATORS };
  if (!hasJava()) return { missing: MISSING_JAVA };
  return startJars(jars, options);
}

async function startJars(
  jars: EmulatorJars,
  { log, rulesFile }: Parameters<typeof startEmulators>[0],
): Promise<Emulators> {
  const startedAt = performance.now();
  const reserved = new Set<number>();
  const firestorePort = await chooseFreePort(0, reserved);
  const pubsubPort = await chooseFreePort(0, reserved);
  const firestoreHost = `127.0.0.1:${firestorePort}`;
  const pubsubHost = `127.0.0.1:${pubsubPort}`;
  const rules = rulesFile === undefined ? [] : ['--rules', rulesFile];
  const firestore = startWatched('java', [
    ...JVM_FLAGS,
    ...jars.firestore,
    '--host',
    '127.0.0.1',
    '--port',
    String(firestorePort),
    ...rules,
  ]);
  const pubsub = startWatched('java', [
    ...JVM_FLAGS,
    ...jars.pubsub,
    '--host=127.0.0.1',
    `--port=${pubsubPort}`,
  ]);
  const { promise: crashed, resolve: tellCrash } = Promise.withResolvers<string>();
  let isStopping = false;
  for (const emulator of [firestore, pubsub]) {
    void emulator.ended.then(() => {
      if (!isStopping) tellCrash(emulator.lastOutput());
    });
  }
  const stop = async (): Promise<void> => {
    isStopping = true;
    await Promise.all([firestore.stop(), pubsub.stop()]);
  };
  try {
    await Promise.all([untilReady(firestoreHost, firestore), untilReady(pubsubHost, pubsub)]);
  } catch (error) {
    await stop();
    throw error;
  }
  const tookMs = Math.round(performance.now() - startedAt);
  log(`emulators ready in ${tookMs} ms (${jars.source}): ${firestoreHost}, ${pubsubHost}`);
  return { firestoreHost, pubsubHost, source: jars.source, crashed, stop };
}

/** Polls over HTTP, which both emulators answer as soon as they serve. */
async function untilReady(host: string, emulator: WatchedProcess): Promise<void> {
  const giveUpAt = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < giveUpAt && emulator.isRunning()) {
    if ((await answerStatus(`http://${host}/`)) === 200) return;
    await wait(POLL_INTERVAL_MS);
  }
  throw new Error(`the emulator on ${host} did not start:\n${emulator.lastOutput()}`);
}

function hasJava(): boolean {
  return spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0;
}

const MISSING_JAVA =
  'Java was not found, which the emulators run on. Install Java 17 or newer ' +
  '(Debian: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk).';

const MISSING_EMULATORS = [
  'The emulators were not found. Install them in one of these ways:',
  '  gcloud components install cloud-firestore-emulator pubsub-emulator',
  '  apt-get install google-cloud-cli-firestore-emulator google-cloud-cli-pubsub-emulator',
  '  npx firebase-tools setup:emulators:firestore && npx firebase-tools setup:emulators:pubsub',
  'or set FIRESTORE_EMULATOR_HOST and PUBSUB_EMULATOR_HOST to running ones.',
].join('\n');
