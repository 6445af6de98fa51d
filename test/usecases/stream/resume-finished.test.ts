import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { collapseFrames, type StreamFrame } from '#shared/wire/resources/streams.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';
import {
  answered,
  FIVE_WORDS,
  idsOf,
  LAST_ID,
  openStream,
  pass,
  readStream,
  sayEach,
  steeredChat,
  storedTurn,
  typesOf,
} from '#test/support/chat/streaming.ts';

const everyId = Array.from({ length: LAST_ID }, (_, id) => id);

describe('a finished stream', () => {
  let dependencies: ChatDependencies;
  let all: StreamFrame[];
  const conversationId = randomUUID();
  const send = request(conversationId, 'Tell me.');
  beforeAll(async () => {
    const clock = createManualClock();
    const chat = steeredChat({ clock });
    const handle = await sendMessage(chat.dependencies, send);
    const frames = collect(handle.frames());
    const call = await chat.call();
    await sayEach(clock, call, FIVE_WORDS);
    await pass(clock, 600); // one chunk before the final one
    call.end();
    await handle.result;
    all = await frames;
    dependencies = chat.dependencies;
  });

  test('a finished stream has ids that rise by one from 0', () => {
    expect(idsOf(all)).toEqual([...everyId, LAST_ID]);
    expect(textOf(all)).toBe(FIVE_WORDS.join(''));
  });

  test.each(everyId)(
    'a finished stream continues after id %i with exactly the later frames',
    async (cursor) => {
      const rest = await openStream(dependencies, { conversationId, cursor });

      expect(await collect(rest)).toEqual(all.slice(cursor + 1));
    },
  );

  test.each(everyId)(
    'a finished stream continues after id %i for a repeated send',
    async (cursor) => {
      const again = await sendMessage(dependencies, { ...send, cursor });

      expect(await collect(again.frames())).toEqual(all.slice(cursor + 1));
    },
  );

  test('a finished stream without a cursor is one text delta with the last id', async () => {
    const frames = await collect(await openStream(dependencies, { conversationId }));

    expect(idsOf(frames)).toEqual([0, 1, 6, 7, 8, 9]);
    expect(typesOf(frames)).toEqual(typesOf(collapseFrames(all)));
    const stored = await storedTurn(dependencies, conversationId);
    expect(textOf(frames)).toBe(stored.contents.map(contentText).join(''));
  });

  test('a finished stream has nothing left after its last id', async () => {
    expect(await readStream(dependencies, { conversationId, cursor: LAST_ID })).toBeUndefined();
    const again = await sendMessage(dependencies, { ...send, cursor: LAST_ID });
    expect(await collect(again.frames())).toEqual([]);
  });

  test('a finished stream refuses a reader’s cursor beyond its end, and replays to a sender', async () => {
    const cursor = LAST_ID + 1;

    await expect(readStream(dependencies, { conversationId, cursor })).rejects.toMatchObject({
      reason: 'BAD_FIELD',
      metadata: { field: 'startingAfter', lastFrameId: String(LAST_ID) },
    });
    const again = await sendMessage(dependencies, { ...send, cursor });
    expect(idsOf(await collect(again.frames()))).toEqual([0, 1, 6, 7, 8, 9]);
  });
});

describe('a stream whose chunks are purged', () => {
  async function purged() {
    const conversationId = randomUUID();
    const clock = createManualClock();
    const chat = await answered(FIVE_WORDS, { clock, conversationId });
    const { store } = chat.dependencies;
    await store.deleteBelow(`conversations/${conversationId}/streams/t_1`);
    return { ...chat, conversationId };
  }

  test('a stream with purged chunks cannot be continued', async () => {
    const { dependencies, conversationId } = await purged();

    await expect(readStream(dependencies, { conversationId, cursor: 3 })).rejects.toMatchObject({
      reason: 'STREAM_EXPIRED',
      httpStatus: 410,
    });
  });

  test('a stream with purged chunks is replayed to a sender and without a cursor', async () => {
    const { dependencies, conversationId, send } = await purged();

    const again = await collect((await sendMessage(dependencies, { ...send, cursor: 3 })).frames());

    expect(idsOf(again)).toEqual([0, 1, 6, 7, 8, 9]);
    expect(await collect(await openStream(dependencies, { conversationId }))).toEqual(again);
  });
});
