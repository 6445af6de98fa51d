/*
 * One instance of the worker, as deployed: eight pushes at once, others wait for ten seconds and are then refused with
 * 429, as Cloud Run does where no instance may be added. A GET tells what it did so far.
 * `node queue-worker.ts STAND_IN_URL`, with the emulators in the environment.
 */
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { createCompactionHandler } from '#functions/worker/push/handle-push.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { countStore } from '../worlds/counted-store.ts';
import { hostConfig } from './host-environment.ts';
import { createInstanceGate } from './instance-gate.ts';
import { serveHost } from './serve-host.ts';

const AT_ONCE = 8;
const WAIT_MS = 10_000;

const [fakeGeminiUrl = ''] = process.argv.slice(2);
const config = hostConfig(fakeGeminiUrl);
const counted = countStore(
  createFirestoreDocumentStore({ projectId: config.GOOGLE_CLOUD_PROJECT, deadlineMs: 30_000 }),
);
const did = {
  compacted: 0,
  acknowledged: 0,
  refused: 0,
  reads: 0,
  commits: 0,
  writes: 0,
  cpuMs: 0,
};
const worker = await createDependencies(config, {
  store: counted.store,
  logger: {
    log: (_, event, fields) => {
      if (event === 'chat_compression' && fields['status'] === 'COMPACTED') did.compacted += 1;
    },
  },
}).compaction();
const handle = createCompactionHandler(worker);
const gate = createInstanceGate({ atOnce: AT_ONCE, waitMs: WAIT_MS });

function figures() {
  const { reads, writes, deletes, batches } = counted.take();
  did.reads += reads;
  did.writes += writes + deletes;
  did.commits += batches.length;
  const { user, system } = process.cpuUsage();
  did.cpuMs = (user + system) / 1_000;
  return did;
}

await serveHost((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(figures()));
    return;
  }
  void (async () => {
    const leave = await gate.enter();
    if (!leave) {
      did.refused += 1;
      response.writeHead(429).end();
      return;
    }
    try {
      await handle(request, response);
      if (response.statusCode === 204) did.acknowledged += 1;
    } finally {
      leave();
    }
  })();
});
