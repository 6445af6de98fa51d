import { createServer, type Socket } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore.ts';
import { createPubSubEventPublisher } from '#functions/adapters/pubsub.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { openServer } from '#infra/local/processes/open-server.ts';

/** A server that takes connections and never says a word. */
const sockets = new Set<Socket>();
const silent = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => {});
});
const { host: silentHost, close } = await openServer(silent);

const refusing = await openServer(createServer());
await refusing.close();

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await close();
});

/** The SDKs read their hosts from the environment when they are first used; this file runs in a thread of its own. */
function setHosts(host: string): void {
  process.env.FIRESTORE_EMULATOR_HOST = host;
  process.env.PUBSUB_EMULATOR_HOST = host;
}

const projectId = 'demo-unreachable';
const topicIds = { compaction: 'compaction', events: 'events' };

async function firstOf(batches: AsyncIterable<unknown>): Promise<unknown> {
  for await (const batch of batches) return batch;
  return undefined;
}

const operations: [string, (store: DocumentStore) => Promise<unknown>][] = [
  ['get', (store) => store.get(['a/b'])],
  ['commit', (store) => store.commit([{ op: 'create', path: 'a/b', fields: {} }])],
  ['query', (store) => store.query({ collection: 'a', limit: 1 })],
  ['watch', (store) => firstOf(store.watch('a', new AbortController().signal))],
  ['deleteBelow', (store) => store.deleteBelow('a/b')],
];

const unavailable = { reason: 'STORE_UNAVAILABLE', retryable: true };

test.each(operations)(
  '%s ends with STORE_UNAVAILABLE at its deadline when Firestore does not answer',
  async (_op, run) => {
    setHosts(silentHost);
    const store = createFirestoreDocumentStore({ projectId, deadlineMs: 400 });

    await expect(run(store)).rejects.toMatchObject(unavailable);
  },
);

test('a read ends with STORE_UNAVAILABLE at its deadline when Firestore refuses connections', async () => {
  setHosts(refusing.host);
  const store = createFirestoreDocumentStore({ projectId, deadlineMs: 400 });

  await expect(store.get(['a/b'])).rejects.toMatchObject(unavailable);
});

test.each([
  ['does not answer', silentHost],
  ['refuses connections', refusing.host],
])(
  'publishing ends with EVENT_BUS_UNAVAILABLE at its deadline when Pub/Sub %s',
  async (_name, host) => {
    setHosts(host);
    const publisher = createPubSubEventPublisher({ projectId, topicIds, deadlineMs: 400 });

    await expect(publisher.publish({ topic: 'events', data: {} })).rejects.toMatchObject({
      reason: 'EVENT_BUS_UNAVAILABLE',
      retryable: true,
    });
  },
);
