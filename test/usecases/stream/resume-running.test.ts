import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';
import {
  FIVE_WORDS,
  idsOf,
  LAST_ID,
  openStream,
  pass,
  readStream,
  readUntil,
  sayEach,
  settle,
  silentModel,
  steeredChat,
} from '#test/support/chat/streaming.ts';

describe('a running stream', () => {
  async function running(overrides: Partial<ChatDependencies> = {}) {
    const clock = createManualClock();
    const conversationId = randomUUID();
    const chat = steeredChat({ clock, ...overrides });
    const send = request(conversationId, 'Tell me.');
    const handle = await sendMessage(chat.dependencies, send);
    const all = collect(handle.frames());
    const call = await chat.call();
    await sayEach(clock, call, FIVE_WORDS.slice(0, 3));
    return { ...chat, clock, conversationId, send, handle, call, all };
  }

  test('a running stream gives latecomers earlier text as one delta, then live frames', async () => {
    const { dependencies, conversationId, call, clock, all } = await running();

    const frames = collect(await openStream(dependencies, { conversationId }));
    await settle();
    await sayEach(clock, call, FIVE_WORDS.slice(3));
    call.end();

    const ids = idsOf(await frames);
    expect(ids).toEqual([0, 1, 4, 5, 6, 7, 8, 9]);
    expect(textOf(await frames)).toBe(textOf(await all));
  });

  test.each([0, 1, 2, 3, 4])(
    'a running stream continues after id %i without a gap',
    async (cursor) => {
      const { dependencies, conversationId, call, clock, all } = await running();

      const frames = collect(await openStream(dependencies, { conversationId, cursor }));
      await sayEach(clock, call, FIVE_WORDS.slice(3));
      call.end();

      expect(await frames).toEqual((await all).slice(cursor + 1));
    },
  );

  test('a running stream refuses a cursor of an unknown attempt', async () => {
    const { dependencies, conversationId } = await running();

    await expect(
      readStream(dependencies, { conversationId, cursor: 1_000_000 }),
    ).rejects.toMatchObject({ reason: 'BAD_FIELD' });
  });

  test('a running stream refuses a reader’s cursor beyond its end, with the last id', async () => {
    const { dependencies, conversationId } = await running();

    await expect(readStream(dependencies, { conversationId, cursor: 5 })).rejects.toMatchObject({
      reason: 'BAD_FIELD',
      metadata: { lastFrameId: '4' },
    });
  });

  test('a running stream is given whole to a sender with a cursor beyond its end', async () => {
    const { dependencies, call, clock, send } = await running();

    const again = await sendMessage(dependencies, { ...send, cursor: 700 });
    const frames = collect(again.frames());
    await sayEach(clock, call, FIVE_WORDS.slice(3));
    call.end();

    expect(textOf(await frames)).toBe(FIVE_WORDS.join(''));
    expect(idsOf(await frames)[0]).toBe(0);
  });

  test.each([
    ['who only reads', false],
    ['who sent the same message', true],
  ])(
    'another instance’s stream ends whole for a reader with a later cursor, %s',
    async (_, isSender) => {
      const { dependencies, conversationId, call, clock, send } = await running();
      const other = chatDependencies({ store: dependencies.store, clock, model: silentModel() });
      const cursor = 700;

      const frames = collect(
        isSender
          ? (await sendMessage(other, { ...send, cursor })).frames()
          : await openStream(other, { conversationId, cursor }),
      );
      await sayEach(clock, call, FIVE_WORDS.slice(3));
      call.end();
      await pass(clock, 1_000);

      expect(textOf(await frames)).toBe(FIVE_WORDS.join(''));
      expect(idsOf(await frames).at(-1)).toBe(LAST_ID);
    },
  );

  test('a running stream has the same frames on another instance meanwhile', async () => {
    const { dependencies, conversationId, call, clock, all } = await running();
    const other = chatDependencies({ store: dependencies.store, clock });

    const frames = await openStream(other, { conversationId, cursor: 1 });
    const early = readUntil(frames, (read) => textOf(read) === 'One two three ');
    await pass(clock, 600);

    const read = await early;
    expect(idsOf(read)).toEqual([2, 3, 4]);
    const later = collect(await openStream(other, { conversationId, cursor: 4 }));
    await sayEach(clock, call, FIVE_WORDS.slice(3));
    call.end();
    expect([...read, ...(await later)]).toEqual((await all).slice(2));
  });

  test('a running stream on another instance begins with stored text as one delta', async () => {
    const { dependencies, conversationId, call, clock, all } = await running();
    const other = chatDependencies({ store: dependencies.store, clock });
    await pass(clock, 600);

    const frames = collect(await openStream(other, { conversationId }));
    await settle();
    await sayEach(clock, call, FIVE_WORDS.slice(3));
    call.end();

    expect(idsOf(await frames).slice(0, 3)).toEqual([0, 1, 4]);
    expect(textOf(await frames)).toBe(textOf(await all));
    expect(idsOf(await frames).at(-1)).toBe(LAST_ID);
  });

  test('a running stream reaches a duplicate sender at another instance, result included', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const chat = steeredChat({ store, clock });
    const send = request(randomUUID(), 'Tell me.');
    const first = await sendMessage(chat.dependencies, send);
    const second = await sendMessage(chatDependencies({ store, clock }), send);
    const frames = collect(second.frames());

    const call = await chat.call();
    await sayEach(clock, call, FIVE_WORDS);
    await pass(clock, 600);
    call.end();

    expect((await second.result).turn).toMatchObject({ state: 'done', seq: 1 });
    expect(textOf(await frames)).toBe(FIVE_WORDS.join(''));
    await first.result;
    expect(chat.calls).toHaveLength(1);
  });
});
