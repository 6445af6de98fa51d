import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createDatabaseClock } from '#functions/adapters/firestore/database-clock.ts';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { createShiftedClock } from '../fakes/shifted-clock.ts';
import { demoProjectId, firestoreEmulatorHost } from '../support/processes/emulator-environment.ts';
import { DAY_MS } from '../support/skewed.ts';

firestoreEmulatorHost();

const collection = `things-${randomUUID()}`;

/** By how much the clock of an instance is wrong once it has called the database, on a machine that is a day fast. */
async function errorAfter(call: (store: DocumentStore) => Promise<unknown>): Promise<number> {
  const clock = createDatabaseClock(createShiftedClock(DAY_MS));
  const store = createFirestoreDocumentStore({
    projectId: demoProjectId(),
    deadlineMs: 20_000,
    clock,
  });
  await call(store);
  return Math.abs(clock.now().getTime() - Date.now());
}

/** The emulator of this machine answers within it. */
const CALL_MS = 20_000;

test.each<[string, (store: DocumentStore) => Promise<unknown>]>([
  ['read', (store) => store.get([`${collection}/absent`])],
  ['query', (store) => store.query({ collection, limit: 1 })],
  [
    'commit',
    (store) => store.commit([{ op: 'create', path: `${collection}/a`, fields: { n: 1 } }]),
  ],
])('a reply of %s sets the clock of an instance whose machine is a day fast', async (_, call) => {
  expect(await errorAfter(call)).toBeLessThan(CALL_MS);
});
