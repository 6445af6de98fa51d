import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import {
  createMemoryDocumentStore,
  type MemoryStoreHooks,
} from '../../infra/local/embedded/memory-document-store.ts';
import { chunksCollection } from '../../shared/conversation/paths.ts';
import { contentText } from '../../shared/conversation/content.ts';
import { CHUNK_MAX_BYTES, decodeStreamChunk } from '../../shared/conversation/stream-chunk.ts';
import { StoreUnavailableError } from '../../shared/errors.ts';
import type { DocumentStore, Write } from '../../shared/ports.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat-dependencies.ts';
import { collect, request, textOf } from '../support/sending.ts';
import {
  idsOf,
  pass,
  openStream,
  sayEach,
  settle,
  stalled,
  steeredChat,
  storedTurn,
} from '../support/streaming.ts';

const isChunk = ({ path }: Write) => path.includes('/chunks/');

/** The chunk documents of the first turn, in order. */
async function storedChunks(store: DocumentStore, conversationId: string) {
  const collection = chunksCollection(conversationId, 1);
  const documents = await store.query({ collection, limit: 1_000 });
  return documents.map(decodeStreamChunk);
}

/** A turn that is being answered over a store with these hooks. */
async function speaking(hooks: MemoryStoreHooks = {}) {
  const clock = createManualClock();
  const store = createMemoryDocumentStore(hooks);
  const conversationId = randomUUID();
  const chat = steeredChat({ clock, store });
  const send = request(conversationId, 'Tell me.');
  const handle = await sendMessage(chat.dependencies, send);
  const frames = collect(handle.frames());
  return { ...chat, clock, store, conversationId, send, handle, frames, call: await chat.call() };
}

describe('the chunks of a stream', () => {
  test('are stored half a second after the first frame, without an end of the answer', async () => {
    const { clock, store, conversationId, call } = await speaking();
    call.say('Hello');
    await settle();

    await pass(clock, 450);
    expect(await storedChunks(store, conversationId)).toEqual([]);
    await pass(clock, 100);

    const [chunk] = await storedChunks(store, conversationId);
    expect(chunk).toMatchObject({ attempt: 1, n: 1, firstId: 0, lastId: 2 });
    expect(textOf(chunk?.frames ?? [])).toBe('Hello');
  });

  test('are stored at once when a KiB has come together', async () => {
    const { store, conversationId, call } = await speaking();

    call.say('x'.repeat(1_024));
    await settle();

    expect(await storedChunks(store, conversationId)).toHaveLength(1);
  });

  test('expire after a day', async () => {
    const { clock, store, conversationId, call } = await speaking();
    call.say('x'.repeat(1_024));
    await settle();

    const [chunk] = await storedChunks(store, conversationId);

    const dayMs = 24 * 60 * 60 * 1_000;
    expect((chunk?.expireTime.getTime() ?? 0) - clock.now().getTime()).toBe(dayMs);
  });

  test('end with one that says so and comes with the end of the turn', async () => {
    const { dependencies, store, conversationId, call, handle, frames } = await speaking();
    call.say('x'.repeat(1_024));
    await settle();
    call.end();
    await handle.result;

    const chunks = await storedChunks(store, conversationId);

    expect(chunks.map(({ final }) => final)).toEqual([undefined, true]);
    expect(chunks.flatMap((chunk) => chunk.frames)).toEqual(await frames);
    const turn = await storedTurn(dependencies, conversationId);
    expect(turn).toMatchObject({ chunks: 2, lastFrameId: (await frames).at(-1)?.id });
  });

  test('cut a very large answer where no character breaks, each below its limit', async () => {
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

  test.each([
    ['Hangul jamo', ['\u1112', '\u1161', '\u11ab', '\u1100\u1173', '\u11af']],
    ['a ZWJ emoji', ['👩', '\u200d', '👩', '\u200d👧']],
    ['surrogate pairs', ['\ud83d', '\ude00\ud83d', '\ude01', 'x\ud83d', '\ude02']],
    ['half a surrogate pair that the model sent', ['a\ud83d', 'b']],
    ['text that runs from right to left', ['\u05e9', '\u05dc\u05d5', '\u05dd\u202e']],
  ])('keep %s whole over all documents', async (_, pieces) => {
    const { clock, dependencies, conversationId, call, handle } = await speaking();
    for (const piece of pieces) {
      await sayEach(clock, call, [piece]);
      await pass(clock, 600); // each piece in a chunk of its own
    }
    call.end();
    await handle.result;

    const frames = await collect(await openStream(dependencies, { conversationId, cursor: 1 }));

    const stored = await storedTurn(dependencies, conversationId);
    expect(textOf(frames)).toBe(pieces.join(''));
    expect(stored.contents.map(contentText).join('')).toBe(pieces.join(''));
    expect((await storedChunks(dependencies.store, conversationId)).length).toBeGreaterThan(1);
  });
});

describe('a store that fails while an answer is on its way', () => {
  test('and comes back before its end loses no frame', async () => {
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

  test('is not asked again more often than twice a second', async () => {
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
    expect(asked).toBeLessThanOrEqual(12);
  });

  test('and loses the reply of a flush stores no frame twice and none too few', async () => {
    let lost = 0;
    const { clock, dependencies, store, conversationId, call, handle, frames } = await speaking({
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
    expect((await storedTurn(dependencies, conversationId)).chunks).toBe(chunks.length);
  });

  test.each(['a flush', 'the finish'])(
    'and loses the reply of %s just before the end stores every frame once',
    async (which) => {
      let lost = 0;
      const isTarget = (writes: readonly Write[]) =>
        writes.some(isChunk) && writes.length > 2 === (which === 'the finish');
      const { clock, store, conversationId, call, handle, frames } = await speaking({
        afterCommit: (writes) => {
          if (!isTarget(writes) || lost > 0) return Promise.resolve();
          lost += 1;
          return Promise.reject(new StoreUnavailableError({ operation: 'commit' }));
        },
      });
      await sayEach(clock, call, ['One ', 'x'.repeat(2_000)]);
      await settle();
      call.say('two');
      call.end();
      const { turn } = await Promise.race([
        handle.result,
        pass(clock, 60_000, 100).then(() => handle.result),
      ]);

      expect(lost).toBe(1);
      expect(turn.state).toBe('done');
      const chunks = await storedChunks(store, conversationId);
      expect(chunks.flatMap((chunk) => chunk.frames)).toEqual(await frames);
    },
  );
});

/** Another instance answers the message from the beginning. */
async function takeOver({ store, clock, send }: Awaited<ReturnType<typeof stalled>>) {
  const { model } = scriptedStreamer(textAnswer('Second.'));
  const { result } = await sendMessage(chatDependencies({ store, clock, model }), send);
  await result;
}

test('a flush that a take-over has overtaken writes nothing', async () => {
  const world = await stalled();
  await takeOver(world);
  const before = await storedChunks(world.store, world.conversationId);

  world.gate.resolve();
  expect((await world.handle.result).turn.attempt).toBe(2);

  expect(await storedChunks(world.store, world.conversationId)).toEqual(before);
  expect(before.every(({ attempt }) => attempt === 2)).toBe(true);
});

test('readers of an instance that lost its turn go on with the attempt that took it over', async () => {
  const world = await stalled();
  const frames = collect(world.handle.frames());
  await settle();
  await takeOver(world);
  world.gate.resolve();

  const read = await frames;
  expect(textOf(read.filter(({ id }) => id >= 1_000_000))).toBe('Second.');
  expect(read.at(-1)?.chunk.type).toBe('finish');
});

test('a watch that leaves out, repeats and reorders chunks changes nothing for its reader', async () => {
  const { clock, store, conversationId, call, handle, frames } = await speaking();
  const careless: DocumentStore = {
    ...store,
    async *watch(collection, signal) {
      for await (const batch of store.watch(collection, signal)) {
        const told = batch.filter(({ fields }) => fields['n'] !== 2);
        yield [...told, ...told].toReversed();
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
