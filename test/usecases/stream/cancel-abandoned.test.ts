import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { requestCancel } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { cancel, halfSaid } from '#test/support/chat/cancelling.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';
import {
  pass,
  settle,
  silentModel,
  steeredChat,
  stoppable,
  storedTurn,
} from '#test/support/chat/streaming.ts';

describe('cancelling a turn whose instance died before it said anything', () => {
  test('cancelling a silent dead instance’s turn closes it for its sender without a model call', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const conversationId = randomUUID();
    const send = request(conversationId, 'Tell me.');
    const process = stoppable({ store, clock });
    const { dependencies: dead } = steeredChat({ store: process.store, clock: process.clock });
    await sendMessage(dead, send);
    process.stop();
    await requestCancel(chatDependencies({ store, clock }), { conversationId, seq: 1 });
    clock.advance(20_001);

    const alive = chatDependencies({ store, clock, model: silentModel() });
    const { turn } = await (await sendMessage(alive, send)).result;

    expect(turn).toMatchObject({ state: 'cancelled', attempt: 1, inContext: false });
  });

  test('cancelling a silent dead instance’s turn ends it at once', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const conversationId = randomUUID();
    const process = stoppable({ store, clock });
    const { dependencies: dead } = steeredChat({ store: process.store, clock: process.clock });
    await sendMessage(dead, request(conversationId, 'Tell me.'));
    process.stop();
    clock.advance(20_001);

    const turn = await cancel(chatDependencies({ store, clock }), conversationId);

    expect(turn).toMatchObject({ state: 'cancelled', inContext: false });
    expect((await readConversation(store, conversationId))?.value.open).toBeUndefined();
  });
});

describe('cancelling a turn whose instance died in mid-answer', () => {
  /** Two words are said and stored; then nobody answers any more. */
  async function died() {
    const chat = await halfSaid();
    const { store, clock } = chat;
    await pass(clock, 600);
    chat.process.stop();
    chat.call.say('!'.repeat(2_000));
    await settle();
    const alive = chatDependencies({ store, clock, model: silentModel() });
    return { ...chat, alive };
  }
  const partial = { state: 'cancelled', attempt: 1, inContext: true };

  test('cancelling a dead instance’s turn in mid-answer keeps and replays its text', async () => {
    const { alive, clock, conversationId, send } = await died();
    clock.advance(20_001);

    const turn = await cancel(alive, conversationId);

    expect(turn).toMatchObject(partial);
    expect(turn.tokens.answer).toBeGreaterThan(0);
    expect(turn.contents.map(contentText)).toEqual(['Half an answer']);
    const again = await sendMessage(alive, send);
    expect(textOf(await collect(again.frames()))).toBe('Half an answer');
  });

  test('a cancelled dead instance’s answer keeps its text when its sender returns', async () => {
    const { alive, clock, conversationId, send } = await died();
    await requestCancel(alive, { conversationId, seq: 1 });
    clock.advance(20_001);

    const { turn } = await (await sendMessage(alive, send)).result;

    expect(turn).toMatchObject(partial);
    expect(turn.contents.map(contentText)).toEqual(['Half an answer']);
  });

  test.each([undefined, 'queue', 'interrupt'] as const)(
    'a cancelled dead instance’s answer is in the next message’s context (onBusy %s)',
    async (onBusy) => {
      const { store, clock, conversationId, alive } = await died();
      await requestCancel(alive, { conversationId, seq: 1 });
      const { model, requests } = scriptedStreamer(textAnswer('Next.'));
      const next = chatDependencies({ store, clock, model });
      if (onBusy === undefined) clock.advance(20_001);

      const sent = sendMessage(next, {
        ...request(conversationId, 'Go on.'),
        ...(onBusy && { onBusy }),
      });
      await pass(clock, 25_000, 500);
      await (
        await sent
      ).result;

      expect(requests[0]?.contents.map(contentText)).toEqual([
        'Tell me.',
        'Half an answer',
        'Go on.',
      ]);
      expect(await storedTurn(next, conversationId)).toMatchObject(partial);
    },
  );

  test('cancelling a dead instance’s turn with purged chunks shows no text', async () => {
    const { alive, store, clock, conversationId } = await died();
    clock.advance(20_001);
    await store.deleteBelow(`conversations/${conversationId}/streams/t_1`);

    const turn = await cancel(alive, conversationId);

    expect(turn).toMatchObject({ state: 'cancelled', inContext: false, contents: [] });
  });
});
