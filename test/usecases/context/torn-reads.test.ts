import { showContext } from '#functions/chat/context/show-context.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import type { Clock, LogFields } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { request } from '#test/support/chat/sending.ts';
import {
  pass,
  silentModel,
  steeredChat,
  stoppable,
  storedTurn,
} from '#test/support/chat/streaming.ts';
import { buildConversation, modelText } from '#test/support/compaction/conversation-builder.ts';
import { expect, test } from 'vitest';

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

/** A turn whose call was never answered, as an import or another version may have left it. */
const brokenTurn = {
  answer: [
    { role: 'model' as const, parts: [{ functionCall: { name: 'find', args: {} } }] },
    modelText('Done.'),
  ],
};

test('a stored turn that no model accepts is repaired in the prompt, shown and logged', async () => {
  const streamer = scriptedStreamer(textAnswer('Fine.'));
  const logged: { event: string; fields: LogFields }[] = [];
  const logger = {
    log: (_: string, event: string, fields: LogFields) => void logged.push({ event, fields }),
  };
  const chat = chatDependencies({ model: streamer.model, logger });
  const { conversationId } = await buildConversation(chat.store, { turns: [brokenTurn] });
  const caller = { uid: 'u1', tier: 'signedIn' } as const;

  const shown = await showContext(chat, { caller, conversationId });
  await (
    await sendMessage(chat, request(conversationId, 'And now?'))
  ).result;

  const sent = JSON.stringify(streamer.requests.at(-1)?.contents);
  expect(sent).not.toContain('functionCall');
  expect(sent).toContain('Done.');
  expect(shown.items.find(({ kind }) => kind === 'turn')).toMatchObject({
    repairs: { orphanCall: 1 },
  });
  expect((await storedTurn(chat, conversationId, 2)).repairs).toEqual({ orphanCall: 1 });
  expect(logged).toContainEqual({
    event: 'history_mended',
    fields: expect.objectContaining({ promptId: 't_2', orphanCall: 1 }),
  });
});
