/*
 * A worker that compacts one conversation after the other, and sends how many it does in a second and what each takes:
 * `node worker-throughput.ts MODEL_URL`, over a store in memory.
 */
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { benchTurns } from '../bench-conversation.ts';
import { manualRequest } from '#test/support/compaction/compacted-conversation.ts';

const THRESHOLD_TOKENS = 16_000;
const CONVERSATIONS = 96;
/** Compacted before them, so that what is measured is a worker at work and not one that has just started. */
const WARM_UP = 96;
const AT_ONCE = 8;

const [fakeGeminiUrl = ''] = process.argv.slice(2);
const store = createMemoryDocumentStore();
const environment = stackEnvironment({ shell: {}, model: { kind: 'stand-in' }, fakeGeminiUrl });
const worker = await createDependencies(localConfig(environment), {
  store,
  publisher: { publish: () => Promise.resolve() },
  logger: { log: () => undefined },
}).compaction();
const turns = benchTurns(400, 'chat').map(({ user, contents }) => ({ user, answer: contents }));
const ids: string[] = [];
for (let i = 0; i < WARM_UP + CONVERSATIONS; i++) {
  const conversation = {
    settings: { thresholdTokens: THRESHOLD_TOKENS },
    compactionRequests: manualRequest('bench'),
  };
  ids.push((await buildConversation(store, { turns, conversation })).conversationId);
}
const { signal } = new AbortController();

async function compact(conversationId: string): Promise<void> {
  const result = await runCompaction(worker, { conversationId, signal });
  if (result.kind !== 'done' || result.state !== 'COMPACTED')
    throw new Error(`a compaction ended as ${JSON.stringify(result)}`);
}

for (const id of ids.splice(0, WARM_UP)) await compact(id);
const startedAt = performance.now();
const processorBefore = process.cpuUsage();
const next = async (): Promise<void> => {
  for (let id = ids.pop(); id !== undefined; id = ids.pop()) await compact(id);
};
await Promise.all(Array.from({ length: AT_ONCE }, next));
const seconds = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(processorBefore);
process.send?.({
  perSecond: CONVERSATIONS / seconds,
  processorMs: (user + system) / 1_000 / CONVERSATIONS,
});
