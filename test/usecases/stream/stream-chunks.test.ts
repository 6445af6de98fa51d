import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { CHUNK_MAX_BYTES } from '#shared/wire/stream-chunk.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';
import {
  speaking,
  storedChunks,
  idsOf,
  openStream,
  pass,
  settle,
  storedTurn,
  sayEach,
} from '#test/support/chat/streaming.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';

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

test('a store failure during an answer that recovers before its end loses no frame', async () => {
  let isDown = false;
  const store = createMemoryDocumentStore({
    beforeOperation: () =>
      isDown ? Promise.reject(new StoreUnavailableError({ operation: 'all' })) : Promise.resolve(),
  });
  const { clock, dependencies, conversationId, call, handle, frames } = await speaking({ store });
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
