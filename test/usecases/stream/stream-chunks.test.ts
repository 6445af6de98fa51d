import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { CHUNK_MAX_BYTES } from '#shared/conversation/documents/stream-chunk.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';
import { speaking, storedChunks } from '#test/support/speaking.ts';
import {
  idsOf,
  openStream,
  pass,
  sayEach,
  settle,
  storedTurn,
} from '#test/support/chat/streaming.ts';

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

  test.each([
    ['Hangul jamo', ['\u1112', '\u1161', '\u11ab', '\u1100\u1173', '\u11af']],
    ['a ZWJ emoji', ['👩', '\u200d', '👩', '\u200d👧']],
    ['surrogate pairs', ['\ud83d', '\ude00\ud83d', '\ude01', 'x\ud83d', '\ude02']],
    ['half a surrogate pair that the model sent', ['a\ud83d', 'b']],
    ['text that runs from right to left', ['\u05e9', '\u05dc\u05d5', '\u05dd\u202e']],
  ])('stream chunks keep %s whole over all documents', async (_, pieces) => {
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
