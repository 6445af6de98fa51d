import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { readOwnTurn } from '#functions/chat/turns/stream/read-turn.ts';
import { streamTurn } from '#functions/chat/turns/stream/stream-turn.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { textAnswer, scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';
import {
  idsOf,
  pass,
  openStream,
  readStream,
  readUntil,
  silentModel,
  sayEach,
  steeredChat,
  stoppable,
  storedTurn,
  typesOf,
} from '#test/support/chat/streaming.ts';

describe('a turn that is taken over', () => {
  /** The first instance dies after it said and stored something. */
  async function died() {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const conversationId = randomUUID();
    const send = request(conversationId, 'Tell me.');
    const process = stoppable({ store, clock });
    const dead = steeredChat({ store: process.store, clock: process.clock });
    await sendMessage(dead.dependencies, send);
    await sayEach(clock, await dead.call(), ['Half an ', 'answer']);
    await pass(clock, 600);
    process.stop();
    (await dead.call()).say('!'.repeat(2_000));
    return { store, clock, conversationId, send, dead };
  }
  const second = () => scriptedStreamer(textAnswer('Another answer.')).model;

  test('a taken-over turn’s ids begin above the first attempt’s, with a drop notice', async () => {
    const { store, clock, send } = await died();
    await pass(clock, 21_000, 500);

    const handle = await sendMessage(chatDependencies({ store, clock, model: second() }), send);
    const frames = await collect(handle.frames());

    expect(idsOf(frames)).toEqual(frames.map((_, i) => 1_000_000 + i));
    expect(frames[1]?.chunk).toEqual({
      type: 'data-notice',
      id: 'restarted-2',
      data: { kind: 'restarted', dropParts: ['p0'] },
    });
    expect(frames[2]?.chunk).toEqual({ type: 'text-start', id: 'a2-p0' });
    expect(textOf(frames)).toBe('Another answer.');
  });

  test('a taken-over turn gives an old cursor the new attempt from its beginning', async () => {
    const { store, clock, send, conversationId } = await died();
    await pass(clock, 21_000, 500);
    const alive = chatDependencies({ store, clock, model: second() });
    await (
      await sendMessage(alive, send)
    ).result;

    const frames = await collect(await openStream(alive, { conversationId, cursor: 3 }));

    expect(frames[0]?.id).toBe(1_000_000);
    expect(typesOf(frames)[1]).toBe('data-notice');
    const stored = await storedTurn(alive, conversationId);
    expect(textOf(frames)).toBe(stored.contents.map(contentText).join(''));
  });

  test('a taken-over turn continues for first readers when its sender returns', async () => {
    const { store, clock, send, conversationId } = await died();
    const reader = chatDependencies({ store, clock, model: second() });
    const frames = collect(await openStream(reader, { conversationId }));
    await pass(clock, 20_500, 500);

    const alive = chatDependencies({ store, clock, model: second() });
    const { turn } = await (await sendMessage(alive, send)).result;
    await pass(clock, 2_000, 500);

    const read = await frames;
    expect(turn.attempt).toBe(2);
    expect(textOf(read.filter(({ id }) => id < 1_000_000))).toBe('Half an answer');
    expect(textOf(read.filter(({ id }) => id >= 1_000_000))).toBe('Another answer.');
    expect(typesOf(read).at(-1)).toBe('finish');
  });

  test('a turn is taken over by a waiting duplicate sender', async () => {
    const { store, clock, send } = await died();
    const alive = chatDependencies({ store, clock, model: second() });

    const handle = await sendMessage(alive, send);
    const frames = collect(handle.frames());
    await pass(clock, 22_000, 500);

    expect((await handle.result).turn).toMatchObject({ attempt: 2, state: 'done' });
    expect(textOf((await frames).filter(({ id }) => id >= 1_000_000))).toBe('Another answer.');
  });

  test('a turn is taken over by a mere reader when nobody else comes', async () => {
    const { store, clock, conversationId } = await died();
    const reader = chatDependencies({ store, clock, model: second() });
    const frames = collect(await openStream(reader, { conversationId }));

    await pass(clock, 22_000, 500);

    const read = await frames;
    expect(textOf(read.filter(({ id }) => id >= 1_000_000))).toBe('Another answer.');
    expect(typesOf(read).at(-1)).toBe('finish');
    const stored = await storedTurn(reader, conversationId);
    expect(stored).toMatchObject({ state: 'done', attempt: 2 });
    expect(stored.user.parts).toEqual([{ text: 'Tell me.' }]);
  });

  test('a taken-over turn is answered to its end after its reader has left', async () => {
    const { store, clock, conversationId } = await died();
    const steered = steeredChat({ store, clock });
    const left = new AbortController();
    const asked = { conversationId, cursor: 3, left: left.signal };
    const frames = collect(await openStream(steered.dependencies, asked));
    await pass(clock, 22_000, 500);
    const call = await steered.call();

    left.abort();
    call.say('After all.');
    call.end();
    await pass(clock, 1_000, 500);

    await frames;
    const stored = await storedTurn(steered.dependencies, conversationId);
    expect(stored).toMatchObject({ state: 'done', attempt: 2 });
  });

  test('a mere reader closes a dead turn as failed after the third attempt', async () => {
    const { store, clock, conversationId } = await died();
    await pass(clock, 21_000, 500);
    const path = turnPath(conversationId, 1);
    await store.commit([{ op: 'update', path, fields: { attempt: 3 }, guard: { exists: true } }]);
    const reader = chatDependencies({ store, clock, model: silentModel() });

    const read = await collect(await openStream(reader, { conversationId, cursor: 3 }));

    expect(typesOf(read).slice(-2)).toEqual(['error', 'finish']);
    expect((await storedTurn(reader, conversationId)).state).toBe('failed');
    expect(await readStream(reader, { conversationId, cursor: read.at(-1)?.id })).toBeUndefined();
  });

  test('a turn closed by the next message ends for its readers with that error', async () => {
    const { store, clock, conversationId } = await died();
    const reader = chatDependencies({ store, clock });
    const frames = await openStream(reader, { conversationId });
    const read = await readUntil(frames, (all) => textOf(all) === 'Half an answer');
    await pass(clock, 20_500, 500);

    await (
      await sendMessage(chatDependencies({ store, clock }), request(conversationId, 'Next.'))
    ).result;

    const cursor = read.at(-1)?.id;
    const rest = await collect(await openStream(reader, { conversationId, cursor }));
    expect(typesOf(rest)).toEqual(['data-context', 'error', 'finish']);
    expect(await readStream(reader, { conversationId, cursor: rest.at(-1)?.id })).toBeUndefined();
  });
});

describe('a reader who takes a turn over', () => {
  /** A regeneration whose instance has died in mid-answer. */
  async function diedRegenerating() {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const conversationId = randomUUID();
    await (
      await sendMessage(chatDependencies({ store, clock }), request(conversationId, 'Tell me.'))
    ).result;
    const process = stoppable({ store, clock });
    const dead = steeredChat({ store: process.store, clock: process.clock });
    const id = randomUUID();
    await sendMessage(dead.dependencies, {
      ...request(conversationId, '', id),
      message: { id, parts: [] },
      replacing: { kind: 'regenerate', messageId: 'm_1' },
    });
    await sayEach(clock, await dead.call(), ['Half']);
    await pass(clock, 600);
    process.stop();
    (await dead.call()).say('!'.repeat(2_000));
    await pass(clock, 25_000, 500);
    return { store, clock, conversationId };
  }

  test('a reader who takes over a regeneration continues it as stored', async () => {
    const { store, clock, conversationId } = await diedRegenerating();
    const scripted = scriptedStreamer(textAnswer('Anew.'));
    const reader = chatDependencies({ store, clock, model: scripted.model });

    const frames = await collect(await openStream(reader, { conversationId, seq: 2 }));

    expect(textOf(frames)).toBe('Anew.');
    const turn = await storedTurn(reader, conversationId, 2);
    expect(turn).toMatchObject({ state: 'done', attempt: 2, replaces: 1, regenerates: 1 });
    expect(scripted.requests[0]?.contents.map(contentText)).toEqual(['Tell me.']);
  });

  test('a reader’s request that takes a turn over waits for the answer', async () => {
    const { store, clock, conversationId } = await diedRegenerating();
    const { model } = scriptedStreamer(textAnswer('Anew.'));
    const reader = chatDependencies({ store, clock, model });
    const caller = { uid: 'u1', tier: 'signedIn' } as const;
    const { own, turn } = await readOwnTurn(reader, { caller, conversationId, turnId: 't_2' });
    const asked = { caller, turn: turn.value, cursor: undefined, locale: undefined, sendMessage };
    const takenOn: Promise<unknown>[] = [];

    const read = await streamTurn(reader, own, asked);
    if (!read) throw new Error('nothing is left of this stream');
    await collect(read({ takeOn: (work) => void takenOn.push(work) }));

    expect(await Promise.all(takenOn)).toMatchObject([{ turn: { seq: 2, state: 'done' } }]);
  });
});
