import { eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { frameSnapshot } from '#shared/compaction/snapshot-text.ts';
import type { MemoryStoreHooks } from '#infra/local/embedded/memory-document-store.ts';
import { setImmediate } from 'node:timers/promises';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { conversationPath, historiesCollection } from '#shared/conversation/documents/paths.ts';
import type { Caller, DocumentFields } from '#shared/ports/ports.ts';
import {
  createScriptedModel,
  snapshotAnswer,
  type ScriptedAnswer,
} from '#test/fakes/scripted-model.ts';
import { chatDependencies } from './chat-dependencies.ts';
import {
  buildDue,
  compactOnce,
  compactionBench,
  type CompactionBench,
  neverAborted,
  rewriteHistory,
  autoRequest,
  workerConfig,
  updateDocument,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  addTurn,
  buildConversation,
  type ConversationToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { createRecordedStore, type RecordedStore } from '#test/support/stores/recorded-store.ts';
import { readableFields } from '#test/support/stores/readable-fields.ts';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { everyItem, type Snapshot } from '#shared/conversation/documents/snapshot.ts';

export const owner: Caller = { uid: 'u1', tier: 'signedIn' };

export const stranger: Caller = { uid: 'u2', tier: 'signedIn' };

/** What somebody said and wants forgotten. */
export const CANARY = 'canary-4711-zephyr';

export interface Lifecycle extends RecordedStore {
  bench: CompactionBench;
  chat: ReturnType<typeof chatDependencies>;
  /** Chat as another instance has it: its own cache. */
  otherChat: ReturnType<typeof chatDependencies>;
}

/** Paths of the documents in which the canary stands. */
export const canaries = async ({ documents }: Pick<Lifecycle, 'documents'>): Promise<string[]> =>
  (await documents())
    .filter(({ fields }) => readableFields(fields).includes(CANARY))
    .map(({ path }) => path);

/** Chat and worker on one store and one clock that stands still; waits are turns of the event loop. */
export function lifecycle(
  overrides: Partial<ChatDependencies> = {},
  createBench = compactionBench,
  hooks: MemoryStoreHooks = {},
): Lifecycle {
  const recorded = createRecordedStore(hooks);
  const bench = createBench({
    store: recorded.store,
    model: createScriptedModel({ answers: [snapshotAnswer(`The word is ${CANARY}.`)] }),
  });
  const clock = { now: () => bench.clock.now(), wait: () => setImmediate() };
  const create = () =>
    chatDependencies({
      store: recorded.store,
      clock,
      cache: createMemoryCache({ maxBytes: 10_000_000 }),
      ...overrides,
    });
  return { ...recorded, bench, chat: create(), otherChat: create() };
}

/** Twenty turns, the third of which says the canary; compacted once, and a turn that came after. */
export async function compacted(
  { bench, store }: Lifecycle,
  options: Partial<ConversationToBuild> = {},
): Promise<string> {
  const turns = Array.from({ length: 20 }, (_, i) =>
    i === 2 ? { user: `The word is ${CANARY}.` } : {},
  );
  const conversationId = await buildDue({ store }, { turns, ...options });
  await compactOnce(bench, conversationId);
  await addTurn(store, conversationId, { user: 'After the first.', answer: 'Noted.' });
  return conversationId;
}

/** Compacts once more, by hand; the turns before it are made up. */
export async function compactAgain(
  { bench, store }: Pick<Lifecycle, 'bench' | 'store'>,
  conversationId: string,
  turns = 10,
): Promise<void> {
  for (let i = 0; i < turns; i++)
    await addTurn(store, conversationId, { user: `More ${i}. `.repeat(40), answer: 'Noted.' });
  const manual = { requestId: `manual-${turns}`, since: bench.clock.now() };
  await setConversation({ store }, conversationId, { 'compactionRequests.manual': manual });
  await compactOnce(bench, conversationId);
}

/** Deletes a question or an answer, as the owner. */
export const removeMessage = (
  { chat }: Pick<Lifecycle, 'chat'>,
  conversationId: string,
  messageId: string,
) => deleteMessage(chat, { caller: owner, conversationId, messageId });

/** Three answered messages; the second one and its answer say the canary. */
export async function shortConversation({ store }: Pick<Lifecycle, 'store'>): Promise<string> {
  const turns = [{}, { user: `I say ${CANARY}.`, answer: `You said ${CANARY}.` }, {}];
  return (await buildConversation(store, { turns })).conversationId;
}

export const setConversation = (
  { store }: Pick<Lifecycle, 'store'>,
  conversationId: string,
  fields: DocumentFields,
) => updateDocument(store, conversationPath(conversationId), fields);

/** Stops whoever comes to this crash point. */
export const dyingAt = (point: string): Pick<ChatDependencies, 'atCrashPoint'> => ({
  atCrashPoint: (name) =>
    name === point ? Promise.reject(new Error(`died at ${point}`)) : Promise.resolve(),
});

/** Does what the erase events that were published ask for. */
export async function serveErasures(world: Lifecycle): Promise<void> {
  for (const { data } of world.chat.published)
    if ('kind' in data && data.kind === 'erase' && 'conversationId' in data)
      await eraseConversation(world.bench, String(data.conversationId), neverAborted());
}

/** What tells of the person or of what was said: every document that is no tombstone, or not an empty one. */
export async function remainsOf(world: Lifecycle): Promise<string[]> {
  const traces = [CANARY, 'Question', 'Answer', 'temple', 'u1', 'message-'];
  const isClean = (fields: DocumentFields) =>
    fields['state'] === 'erased' &&
    fields['ownerUid'] === '' &&
    !traces.some((trace) => readableFields(fields).includes(trace));
  const documents = await world.documents();
  return documents.filter(({ fields }) => !isClean(fields)).map(({ path }) => path);
}

/** Asks for the erasure of the user, and does what the events ask for. */
export const erase = async (world: Lifecycle) => {
  const result = await eraseUser(world.chat, { caller: owner });
  await serveErasures(world);
  return result;
};

/** The owner's request that brings a generation back. */
export const restore = (
  { chat }: Pick<Lifecycle, 'chat'>,
  conversationId: string,
  ...[generation, requestId]: [generation: number, requestId?: string]
) =>
  restoreGeneration(chat, {
    caller: owner,
    conversationId,
    generation,
    requestId,
    locale: undefined,
  });

/** The histories that the conversation has, at most ten. */
export const historiesOf = (bench: Pick<CompactionBench, 'store'>, conversationId: string) =>
  bench.store.query({ collection: historiesCollection(conversationId), limit: 10 });

/** What all items of both layers say. */
export const snapshotTexts = (snapshot: Snapshot): string[] =>
  everyItem(snapshot).map(({ text }) => text);

/** A statement and the turns that it cites. */
export type KnownItem = [text: string, ...sources: number[]];

const snapshotOf = (items: readonly KnownItem[]): Snapshot => ({
  schemaVersion: 1,
  profile: 'assistant',
  sections: {
    key_knowledge: items.map(([text, ...sources], index) => ({
      id: `i${index + 1}`,
      text,
      sources,
      importance: 2,
      by: 'model',
    })),
  },
  archive: [],
  nextId: items.length + 1,
});

/** Puts these statements, and nothing else, into the snapshot of a generation. */
function setItems(
  { store }: Pick<Lifecycle, 'store'>,
  target: { conversationId: string; generation: number },
  items: readonly KnownItem[],
): Promise<void> {
  const snapshot = snapshotOf(items);
  const body = snapshotTexts(snapshot).join('\n');
  return rewriteHistory(store, target, {
    snapshot,
    boundary: 'b',
    snapshotText: frameSnapshot({ body, boundary: 'b' }),
    report: { leftOut: items.map(([text]) => text) },
  });
}

/** Two compactions of a conversation whose third message says the canary, with these statements in both. */
export async function compactedTwice(
  world: Lifecycle,
  items: readonly KnownItem[],
): Promise<string> {
  const conversationId = await compacted(world);
  await compactAgain(world, conversationId);
  for (const generation of [1, 2]) await setItems(world, { conversationId, generation }, items);
  return conversationId;
}

export type StrategyName = 'ledger' | 'gemini-cli';
export const strategies: StrategyName[] = ['ledger', 'gemini-cli'];

/** The worker's configuration with one way to write snapshots. */
export const configOf = (strategy: StrategyName, environment: Record<string, string> = {}) =>
  workerConfig({ SUMMARY_STRATEGY: strategy, ...environment });

/** A worker whose summariser gives these answers, the last one again and again. */
export const benchWith = (
  strategy: StrategyName,
  answers: readonly ScriptedAnswer[],
  overrides: Partial<CompactionBench> = {},
): CompactionBench =>
  compactionBench({
    config: configOf(strategy),
    model: createScriptedModel({ answers }),
    ...overrides,
  });

/** Chat and such a worker on one store. */
export const worldWith = (
  strategy: StrategyName,
  answers: readonly ScriptedAnswer[],
  chat: Parameters<typeof lifecycle>[0] = {},
): Lifecycle =>
  lifecycle(chat, ({ store } = {}) => benchWith(strategy, answers, store ? { store } : {}));

/** Asks for the next compaction as chat does. */
export const needAgain = (
  { store }: Pick<Lifecycle, 'store'>,
  conversationId: string,
  requestId: string,
) =>
  setConversation({ store }, conversationId, { compactionRequests: { ...autoRequest(requestId) } });
