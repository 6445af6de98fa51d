import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { Reading } from '#infra/ops/verify/load.ts';
import { verifyConversation } from '#infra/ops/verify/verify-conversation.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { compactAgain } from '#test/support/chat/lifecycle.ts';
import { chatDependencies } from '../chat/chat-dependencies.ts';
import { toolTurn } from '../tools/tool-conversation.ts';
import {
  buildDue,
  compactOnce,
  compactionBench,
  type CompactionBench,
} from './compacted-conversation.ts';
import { addTurn } from './conversation-builder.ts';
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

/** What the summariser says, a constraint of the user among it. */
const SAID = 'The user never eats hazelnuts.';

/** Chat and worker on one store, as far as conversations are made with them to be verified. */
export interface VerifyWorld {
  store: DocumentStore;
  bench: CompactionBench;
  chat: ReturnType<typeof chatDependencies>;
}

interface Stored {
  store: DocumentStore;
  chat: ChatDependencies;
}

export function verifyWorld(store: DocumentStore = createMemoryDocumentStore()): VerifyWorld {
  const bench = compactionBench({
    store,
    model: createScriptedModel({ answers: [snapshotAnswer(SAID)] }),
  });
  const clock = { now: () => bench.clock.now(), wait: () => setImmediate() };
  return { store, bench, chat: chatDependencies({ store, clock }) };
}

/** What verification reads with. */
export const readingOf = ({ store, chat }: Stored): Reading => ({
  store,
  sha256: chat.sha256,
  now: () => chat.clock.now(),
});

/** What is found in a conversation, as `name path`. */
export async function foundIn(world: Stored, conversationId: string): Promise<string[]> {
  const { findings } = await verifyConversation(readingOf(world), conversationId);
  return findings.map(({ name, path, is }) => `${name} ${path}: ${is}`);
}

/** Twenty turns, two of them with long tool outputs, compacted three times, with a pin and a turn behind it. */
export async function compactedThrice(world: VerifyWorld): Promise<string> {
  const turns = Array.from({ length: 20 }, (_, i) => (i < 17 ? {} : toolTurn(i + 1)));
  const id = randomUUID();
  const conversationId = await buildDue(world, {
    conversationId: id,
    turns,
    conversation: { pins: [{ id: 'allergy', text: SAID, source: 'api' }] },
  });
  await compactOnce(world.bench, conversationId);
  for (const more of [4, 5]) await compactAgain(world, conversationId, more);
  const turn = { user: 'After all of it.', answer: 'Noted.' };
  await addTurn(world.store, conversationId, { ...turn, now: world.bench.clock.now() });
  return conversationId;
}
