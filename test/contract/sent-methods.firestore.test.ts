import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { demoProjectId, firestoreEmulatorHost } from '../support/processes/emulator-environment.ts';
import { googleCalls } from '../terraform/rights/google-calls.ts';

const startSchema = z.object({ headers: z.looseObject({ ':path': z.string() }) });

/** The methods of Firestore's gRPC service that are called while something runs. */
async function sentWhile(run: () => Promise<void>): Promise<string[]> {
  const sent = new Set<string>();
  const listen = (message: unknown) => {
    const path = startSchema.safeParse(message).data?.headers[':path'] ?? '';
    const [, method] = /^\/google\.firestore\.v1\.Firestore\/(\w+)$/.exec(path) ?? [];
    if (method !== undefined) sent.add(method);
  };
  subscribe('http2.client.stream.start', listen);
  try {
    await run();
  } finally {
    unsubscribe('http2.client.stream.start', listen);
  }
  return [...sent].toSorted();
}

/** Everything that the port can do, on documents that are there. */
const uses: Readonly<Record<keyof DocumentStore, (store: DocumentStore) => Promise<unknown>>> = {
  commit: (store) => store.commit([{ op: 'create', path: 'users/u/turns/t', fields: { a: 1 } }]),
  get: (store) => store.get(['users/u/turns/t']),
  query: (store) => store.query({ collection: 'users/u/turns', limit: 1 }),
  sum: (store) => store.sum('users/u/turns', 'a'),
  watch: async (store) => {
    const changes = store.watch('users/u/turns', new AbortController().signal);
    for await (const first of changes) if (first.length > 0) break;
  },
  deleteBelow: (store) => store.deleteBelow('users/u'),
};

test('the store calls the methods of Firestore whose permissions are known, and no other', async () => {
  firestoreEmulatorHost();
  const store = createFirestoreDocumentStore({ projectId: demoProjectId(), deadlineMs: 20_000 });

  const sent = await sentWhile(async () => {
    for (const use of Object.values(uses)) await use(store);
  });

  const known = Object.entries(googleCalls)
    .filter(([file]) => file.includes('/firestore/'))
    .flatMap(([, { calls }]) => Object.values(calls))
    .flatMap(({ method }) => method.split(', '));
  expect(sent).toEqual([...new Set(known)].toSorted());
});
