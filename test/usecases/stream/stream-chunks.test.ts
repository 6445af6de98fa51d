import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { CHUNK_MAX_BYTES } from '#shared/conversation/documents/stream-chunk.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';
import { speaking, storedChunks } from '#test/support/speaking.ts';
import {
  idsOf,
  openStream,
  pass,
  settle,
  storedTurn,
  sayEach,
  stalled,
} from '#test/support/chat/streaming.ts';
import { StoreUnavailableError } from '#shared/errors.ts';

describe('the chunks of a stream', () => {
  test('stream chunks are stored 600 ms after the first frame, without the end', async () => {
    const { clock, store, conversationId, call } = await speaking();
    call.say('Hello');
    await settle();

    await pass(clock, 550);
    expect(await storedChunks(store, conversationId)).toEqual([]);
    await pass(clock, 100);

    const [chunk] = await storedChunks(store, conversationId);
    expect(chunk).toMatchObject({ attempt: 1, firstId: 0, lastId: 2 });
    expect(textOf(chunk?.frames ?? [])).toBe('Hello');
  });

  test('much text makes no more chunks than little', async () => {
    const { clock, store, conversationId, call } = await speaking();

    for (let i = 0; i < 14; i++) {
      call.say('x'.repeat(2_000));
      await pass(clock, 100);
    }

    expect(await storedChunks(store, conversationId)).toHaveLength(2);
  });

  test('stream chunks expire after a day', async () => {
    const { clock, store, conversationId, call } = await speaking();
    call.say('Hello');
    await pass(clock, 600);

    const [chunk] = await storedChunks(store, conversationId);

    const dayMs = 24 * 60 * 60 * 1_000;
    expect((chunk?.expireTime.getTime() ?? 0) - clock.now().getTime()).toBe(dayMs);
  });

  test('stream chunks end with a final one, committed with the turn’s end', async () => {
    const { clock, dependencies, store, conversationId, call, handle, frames } = await speaking();
    call.say('Hello');
    await pass(clock, 600);
    call.end();
    await handle.result;

    const chunks = await storedChunks(store, conversationId);

    expect(chunks.map(({ final }) => final)).toEqual([undefined, true]);
    expect(chunks.flatMap((chunk) => chunk.frames)).toEqual(await frames);
    const turn = await storedTurn(dependencies, conversationId);
    expect(turn.lastFrameId).toBe((await frames).at(-1)?.id);
  });

  test('stream chunks split a very large answer between characters, within the limit', async () => {
    const text = '\u1112\u1161\u11ab👩‍👩‍👧\u0001'.repeat(60_000);
    const { model } = scriptedStreamer(textAnswer(text));
    const dependencies = chatDependencies({ model });
    const conversationId = randomUUID();
    const handle = await sendMessage(dependencies, request(conversationId, 'x'));
    await handle.result;

    const chunks = await storedChunks(dependencies.store, conversationId);
    const frames = chunks.flatMap((chunk) => chunk.frames);

    expect(chunks.length).toBeGreaterThan(3);
    for (const chunk of chunks)
      expect(Buffer.byteLength(JSON.stringify(chunk.frames))).toBeLessThanOrEqual(CHUNK_MAX_BYTES);
    const deltas = frames.map(({ chunk }) => (chunk.type === 'text-delta' ? chunk.delta : ''));
    expect(deltas.filter((delta) => !delta.isWellFormed())).toEqual([]);
    expect(textOf(frames)).toBe(text);
    expect(idsOf(frames)).toEqual(frames.map((_, i) => i));
  });
});

test('a watch that repeats and reorders chunks changes nothing for its reader', async () => {
  const { clock, store, conversationId, call, handle, frames } = await speaking();
  const careless: DocumentStore = {
    ...store,
    async *watch(collection, signal) {
      for await (const batch of store.watch(collection, signal)) {
        yield [...batch, ...batch].toReversed();
      }
    },
  };
  const reader = chatDependencies({ store: careless, clock });
  const read = collect(await openStream(reader, { conversationId, cursor: 0 }));
  for (const text of ['One ', 'two ', 'three ', 'four']) {
    call.say(text);
    await pass(clock, 600);
  }
  call.end();
  await handle.result;

  expect(await read).toEqual((await frames).slice(1));
});

const isChunk = ({ path }: Write) => path.includes('/chunks/');

describe('a store that fails while an answer is on its way', () => {
  test('a store failure during an answer that recovers before its end loses no frame', async () => {
    let isDown = false;
    const { clock, dependencies, conversationId, call, handle, frames } = await speaking({
      beforeOperation: () =>
        isDown
          ? Promise.reject(new StoreUnavailableError({ operation: 'all' }))
          : Promise.resolve(),
    });
    isDown = true;
    await sayEach(clock, call, ['One ', 'two ', 'x'.repeat(2_000)]);
    await pass(clock, 3_000, 100);
    isDown = false;
    await sayEach(clock, call, [' three']);
    call.end();
    await handle.result;

    const rest = await collect(await openStream(dependencies, { conversationId, cursor: 0 }));

    expect(rest).toEqual((await frames).slice(1));
  });

  test('a failing store is asked at most three times a second', async () => {
    let asked = 0;
    let isDown = false;
    const { clock, call } = await speaking({
      beforeOperation: () => {
        asked += 1;
        return isDown
          ? Promise.reject(new StoreUnavailableError({ operation: 'all' }))
          : Promise.resolve();
      },
    });
    isDown = true;
    asked = 0;
    call.say('x'.repeat(5_000));
    await pass(clock, 5_000, 100);

    expect(asked).toBeGreaterThan(5);
    expect(asked).toBeLessThanOrEqual(15);
  });

  test('a lost reply of a flush stores every frame exactly once', async () => {
    let lost = 0;
    const { clock, store, conversationId, call, handle, frames } = await speaking({
      afterCommit: (writes) => {
        if (!writes.some(isChunk) || lost > 0) return Promise.resolve();
        lost += 1;
        return Promise.reject(new StoreUnavailableError({ operation: 'commit' }));
      },
    });
    await sayEach(clock, call, ['One ', 'two ']);
    await pass(clock, 600);
    await sayEach(clock, call, ['three ']);
    await pass(clock, 2_000, 100);
    await sayEach(clock, call, ['four']);
    call.end();
    await handle.result;

    const chunks = await storedChunks(store, conversationId);
    expect(lost).toBe(1);
    expect(chunks.flatMap((chunk) => chunk.frames)).toEqual(await frames);
  });
});

/** Another instance answers the message from the beginning. */
async function takeOver({ store, clock, send }: Awaited<ReturnType<typeof stalled>>) {
  const { model } = scriptedStreamer(textAnswer('Second.'));
  const { result } = await sendMessage(chatDependencies({ store, clock, model }), send);
  await result;
}

test('readers of an instance that lost its turn continue with the new attempt', async () => {
  const world = await stalled();
  const frames = collect(world.handle.frames());
  await settle();
  await takeOver(world);
  world.goOn();

  const read = await frames;
  expect(textOf(read.filter(({ id }) => id >= 1_000_000))).toBe('Second.');
  expect(read.at(-1)?.chunk.type).toBe('finish');
});
