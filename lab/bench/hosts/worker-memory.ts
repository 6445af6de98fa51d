/*
 * A worker that compacts a small conversation and then a large one, and sends what its memory came to:
 * `node worker-memory.ts STAND_IN_URL SMALL LARGE`, with the emulators in the environment.
 */
import { createDependencies } from '#functions/dependencies.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';

const [fakeGeminiUrl = '', small = '', large = ''] = process.argv.slice(2);
const firestoreHost = process.env['FIRESTORE_EMULATOR_HOST'] ?? '';
const config = localConfig(
  stackEnvironment({
    shell: {},
    model: { kind: 'stand-in' },
    fakeGeminiUrl,
    emulators: { firestoreHost, pubsubHost: '127.0.0.1:1' },
  }),
);
const worker = await createDependencies(config, {
  logger: { log: () => undefined },
  publisher: { publish: () => Promise.resolve() },
}).compaction();
const signal = new AbortController().signal;
await runCompaction(worker, { conversationId: small, signal });
globalThis.gc?.();
const idleBytes = process.memoryUsage().rss;
const startedAt = performance.now();
const result = await runCompaction(worker, { conversationId: large, signal });
const ms = performance.now() - startedAt;
// In KiB, and the highest that the process ever had.
const peakBytes = process.resourceUsage().maxRSS * 1_024;
process.send?.({
  idleBytes,
  peakBytes,
  ms,
  state: result.kind === 'done' ? result.state : 'RETRY',
});
