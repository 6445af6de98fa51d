/*
 * Work that has nothing to do with chat and weighs as much as a worker's: pieces that read and write as many documents
 * of their own and use as much of the processor as a compaction, so many a second, until the process is ended.
 * `node neutral-load.ts READS COMMITS WRITES CPU_MS PER_SECOND`, all but the last for one piece, with the emulator in
 * the environment. A GET tells how many it did.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { Firestore } from '@google-cloud/firestore';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { serveHost } from './serve-host.ts';

const AT_ONCE = 8;
/** What a turn of the measured conversations has. */
const DOCUMENT_CHARACTERS = 1_500;
const SLICE_MS = 5;

const [reads = 0, commits = 0, writes = 0, cpuMs = 0, perSecond = 1] = process.argv
  .slice(2)
  .map(Number);
const database = new Firestore({ projectId: localProjectId });
const folder = database.collection(`neutral/${randomUUID()}/documents`);
const fields = { text: 'n'.repeat(DOCUMENT_CHARACTERS) };
const read = Array.from({ length: Math.round(reads) }, (_, n) => folder.doc(`read-${n}`));
const seed = database.batch();
for (const document of read) seed.set(document, fields);
await seed.commit();

const usedMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
const beforeMs = usedMs();
let done = 0;
let begunAtMs = performance.now();

/** When the next piece is due; a time in which the process was stopped is not made up for. */
async function untilDue(): Promise<void> {
  begunAtMs = Math.max(begunAtMs + 1_000 / perSecond, performance.now() - 1_000);
  await delay(Math.max(0, begunAtMs - performance.now()));
}

/** Uses the processor in short slices until this many pieces of work have had their share. */
async function burn(pieces: number): Promise<void> {
  while (usedMs() - beforeMs < pieces * cpuMs) {
    const end = performance.now() + SLICE_MS;
    while (performance.now() < end);
    await setImmediate();
  }
}

async function work(): Promise<void> {
  for (;;) {
    await untilDue();
    await database.getAll(...read);
    for (let n = 0; n < Math.round(commits); n++) {
      const batch = database.batch();
      for (let i = 0; i < Math.max(1, Math.round(writes / commits)); i++)
        batch.set(folder.doc(), fields);
      await batch.commit();
    }
    done += 1;
    await burn(done);
  }
}

for (let lane = 0; lane < AT_ONCE; lane++) void work();
await serveHost((_, response) => void response.end(JSON.stringify({ done })));
