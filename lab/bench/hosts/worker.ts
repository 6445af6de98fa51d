/*
 * A worker over a store in memory, before a model that answers at once; sends one figure. `node worker.ts MODEL_URL WORK`:
 *
 *   compact         conversations a second that the worker compacts
 *   bare            conversations a second for which somebody only reads the turns, asks the model with all of them,
 *                   and writes the answer
 *   tokens N        tokens that the calls of a compaction read and write, for each token of a context of N messages
 *   memory          MiB above idle that a conversation of about 400,000 tokens takes
 *   processor N K   ms of the processor for a conversation of N messages of the kind K
 */
import { createDependencies } from '#functions/dependencies.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { decodeHistory } from '#shared/conversation/documents/history.ts';
import { conversationPath, historyPath } from '#shared/conversation/documents/paths.ts';
import { manualRequest } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { benchTurns, LARGE_MESSAGES, type ConversationKind } from '../worlds/bench-conversation.ts';

const CONVERSATIONS = 96;
/** Before them, so that what is measured is a worker at work and not one that has just started. */
const WARM_UP = 48;
const AT_ONCE = 8;
const MESSAGES = 400;
const THRESHOLD_TOKENS = 16_000;

const [modelUrl = '', work = '', messages = '', kind = 'chat'] = process.argv.slice(2);
const { signal } = new AbortController();
const store = createMemoryDocumentStore();

const environment = stackEnvironment({
  shell: {},
  model: { kind: 'fake-gemini' },
  fakeGeminiUrl: modelUrl,
});
const worker = await createDependencies(localConfig(environment), {
  store,
  publisher: { publish: () => Promise.resolve() },
  logger: { log: () => undefined },
}).compaction();

/** Stores a conversation that waits for its compaction; resolves to its id. */
async function build(count: number, of: ConversationKind = 'chat'): Promise<string> {
  const turns = benchTurns(count, of).map(({ user, contents }) => ({ user, answer: contents }));
  const conversation = {
    settings: { thresholdTokens: THRESHOLD_TOKENS },
    compactionRequests: manualRequest('bench'),
  };
  return (await buildConversation(store, { turns, conversation })).conversationId;
}

async function compact(conversationId: string): Promise<void> {
  const result = await runCompaction(worker, { conversationId, signal });
  if (result.kind !== 'done' || result.state !== 'COMPACTED')
    throw new Error(`a compaction ended as ${JSON.stringify(result)}`);
}

async function onlyReadAskAndWrite(conversationId: string): Promise<void> {
  const path = conversationPath(conversationId);
  const [conversation] = await store.get([path]);
  const turns = await store.query({ collection: `${path}/turns`, limit: MESSAGES });
  const answer = await fetch(`${modelUrl}/v1beta/models/gemini-2.5-flash:generateContent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-recap-role': 'utility_compressor' },
    body: JSON.stringify({
      contents: [{ role: 'user', parts: [{ text: JSON.stringify(turns) }] }],
    }),
  });
  if (conversation === undefined) throw new Error('the conversation is gone');
  const guard = { updateTime: conversation.updateTime };
  const fields = { snapshot: await answer.text() };
  await store.commit([
    { op: 'create', path: historyPath(conversationId, 1), fields },
    { op: 'update', path, fields: { generation: 1 }, guard },
  ]);
}

async function perSecond(workOn: (conversationId: string) => Promise<void>): Promise<number> {
  const ids: string[] = [];
  for (let i = 0; i < WARM_UP + CONVERSATIONS; i++) ids.push(await build(MESSAGES));
  for (const id of ids.splice(0, WARM_UP)) await workOn(id);
  const startedAt = performance.now();
  const lane = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await workOn(id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return CONVERSATIONS / ((performance.now() - startedAt) / 1_000);
}

async function tokensForToken(count: number): Promise<number> {
  const id = await build(count);
  await compact(id);
  const [document] = await store.get([historyPath(id, 1)]);
  if (document === undefined) throw new Error('the history is gone');
  const { usage, beforeTokens } = decodeHistory(document);
  return (usage.promptTokens + usage.outputTokens) / beforeTokens;
}

async function addedMiB(): Promise<number> {
  const large = await build(LARGE_MESSAGES);
  await compact(await build(MESSAGES));
  globalThis.gc?.();
  const idleBytes = process.memoryUsage().rss;
  await compact(large);
  // In KiB, and the highest that the process ever had.
  return process.resourceUsage().maxRSS / 1_024 - idleBytes / 2 ** 20;
}

async function processorMs(count: number, of: ConversationKind): Promise<number> {
  await compact(await build(MESSAGES, of));
  const id = await build(count, of);
  const before = process.cpuUsage();
  await compact(id);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const works: Readonly<Record<string, () => Promise<number>>> = {
  compact: () => perSecond(compact),
  bare: () => perSecond(onlyReadAskAndWrite),
  tokens: () => tokensForToken(Number(messages)),
  memory: addedMiB,
  processor: () => processorMs(Number(messages), kind === 'tools' ? 'tools' : 'chat'),
};
process.send?.(await works[work]?.());
