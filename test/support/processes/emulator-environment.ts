import { randomUUID } from 'node:crypto';

/** The Firestore emulator of this test run, `host:port`. Throws Error when there is none. */
export function firestoreEmulatorHost(): string {
  return requiredHost('FIRESTORE_EMULATOR_HOST');
}

/** The Pub/Sub emulator of this test run, `host:port`. Throws Error when there is none. */
export function pubsubEmulatorHost(): string {
  return requiredHost('PUBSUB_EMULATOR_HOST');
}

/**
 * A project of its own for a test: the emulators keep projects apart and make them on first use. The name
 * begins with `demo-`, which Google reserves for projects that do not exist.
 */
export function demoProjectId(): string {
  return `demo-${randomUUID().slice(0, 18)}`;
}

function requiredHost(variable: string): string {
  const host = process.env[variable];
  if (host === undefined || host === '') {
    throw new Error(`${variable} is not set: run the tests with "npm test", or set it.`);
  }
  return host;
}
