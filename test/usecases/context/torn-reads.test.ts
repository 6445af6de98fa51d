import { expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Clock } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { request } from '#test/support/chat/sending.ts';
import {
  pass,
  silentModel,
  steeredChat,
  stoppable,
  storedTurn,
} from '#test/support/chat/streaming.ts';

/** A clock on which every wait is over at once, and that knows how long they would have been. */
function hastyClock() {
  const clock = createManualClock();
  const waitsMs: number[] = [];
  const hasty: Clock = {
    now: () => clock.now(),
    wait: (ms) => {
      waitsMs.push(ms);
      clock.advance(ms);
      return Promise.resolve();
    },
  };
  return { clock: hasty, waitsMs };
}

test('a missing history is re-read later, then blamed on the store', async () => {
  const { clock, waitsMs } = hastyClock();
  const dependencies = chatDependencies({ clock, model: silentModel() });
  const { conversationId } = await buildConversation(dependencies.store, {
    turns: 2,
    conversation: { generation: 1, coveredThrough: { seq: 1, contentIndex: 0 }, ownerUid: 'u1' },
  });

  const sent = sendMessage(dependencies, request(conversationId, 'Hello?'));

  await expect(sent).rejects.toMatchObject({ reason: 'STORE_UNAVAILABLE', retryable: true });
  expect(waitsMs).toHaveLength(30);
  expect(waitsMs.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(2_000);
});

test('a turn that was tried too often leaves the conversation free', async () => {
  const clock = createManualClock();
  const store = createMemoryDocumentStore();
  const process = stoppable({ clock, store });
  const dead = steeredChat({ clock: process.clock, store: process.store });
  const send = request('given-up', 'Tell me.');
  await sendMessage(dead.dependencies, send);
  process.stop();
  const path = turnPath('given-up', 1);
  const guard = { exists: true } as const;
  await store.commit([{ op: 'update', path, fields: { attempt: 3, producer: 'gone' }, guard }]);
  await pass(clock, 41_000, 1_000);

  const alive = chatDependencies({ clock, store, model: silentModel() });
  const again = sendMessage(alive, send);

  await expect(again).rejects.toMatchObject({ reason: 'TURN_ABANDONED', retryAfterMs: 60_000 });
  expect(await storedTurn(alive, 'given-up')).toMatchObject({ state: 'failed' });
  expect((await readConversation(store, 'given-up'))?.value.open).toBeUndefined();
});
