import type { MemoryStoreHooks } from '#infra/local/embedded/memory-document-store.ts';
import { setImmediate } from 'node:timers/promises';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Caller, DocumentFields } from '#shared/ports/ports.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { chatDependencies } from './chat-dependencies.ts';
import { buildDue, compactOnce } from '../compaction/compacted-conversation.ts';
import { compactionBench, type CompactionBench } from '../compaction/compaction-dependencies.ts';
import {
  addTurn,
  buildConversation,
  type ConversationToBuild,
} from '../compaction/conversation-builder.ts';
import { createRecordedStore, type RecordedStore } from '../stores/recorded-store.ts';
import { readableFields } from '../stores/readable-fields.ts';

export const owner: Caller = { uid: 'u1', tier: 'signedIn' };
export const signedInOwner = { ...owner, signedInAt: new Date(0) };
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
) =>
  store.commit([
    { op: 'update', path: conversationPath(conversationId), fields, guard: { exists: true } },
  ]);

/** Stops whoever comes to this crash point. */
export const dyingAt = (point: string): Pick<ChatDependencies, 'atCrashPoint'> => ({
  atCrashPoint: (name) =>
    name === point ? Promise.reject(new Error(`died at ${point}`)) : Promise.resolve(),
});
