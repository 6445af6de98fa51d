import { randomUUID } from 'node:crypto';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { collect, request } from './sending.ts';
import { sayEach, steeredChat, stoppable } from './streaming.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;

/** Its owner cancels a turn. */
export const cancel = (dependencies: ChatDependencies, conversationId: string, seq = 1) =>
  cancelTurn(dependencies, { caller, conversationId, turnId: `t_${seq}` });

/** An answer of which two words have been said. */
export async function halfSaid(overrides: Partial<ChatDependencies> = {}) {
  const clock = createManualClock();
  const store = overrides.store ?? createMemoryDocumentStore();
  const conversationId = randomUUID();
  const process = stoppable({ store, clock });
  const chat = steeredChat({ ...overrides, clock: process.clock, store: process.store });
  const send = request(conversationId, 'Tell me.');
  const handle = await sendMessage(chat.dependencies, send);
  const frames = collect(handle.frames());
  const call = await chat.call();
  await sayEach(clock, call, ['Half an ', 'answer']);
  return { ...chat, process, clock, store, conversationId, send, handle, frames, call };
}
