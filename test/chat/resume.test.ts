import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ChatDependencies } from '../../functions/src/chat/chat-dependencies.ts';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import { createMemoryDocumentStore } from '../../infra/local/embedded/memory-document-store.ts';
import { contentText } from '../../shared/conversation/content.ts';
import { turnPath } from '../../shared/conversation/paths.ts';
import { collapseFrames } from '../../shared/wire/collapse-frames.ts';
import type { StreamFrame } from '../../shared/wire/stream.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { textAnswer, scriptedStreamer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat-dependencies.ts';
import { collect, request, textOf } from '../support/sending.ts';
import {
  answered,
  idsOf,
  pass,
  openStream,
  readStream,
  readUntil,
  silentModel,
  sayEach,
  settle,
  steeredChat,
  storedTurn,
  typesOf,
} from '../support/streaming.ts';

const WORDS = ['One ', 'two ', 'three ', 'four ', 'five.'];
/** start, text-start, five deltas, text-end, data-context, finish. */
const LAST_ID = 9;
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
    await sayEach(clock, call, WORDS);
    await pass(clock, 600); // one chunk before the final one
    call.end();
    await handle.result;
    all = await frames;
    dependencies = chat.dependencies;
  });

  test('has ids that rise by one from 0', () => {
    expect(idsOf(all)).toEqual([...everyId, LAST_ID]);
    expect(textOf(all)).toBe(WORDS.join(''));
  });

  test.each(everyId)('goes on after id %i with exactly the frames behind it', async (cursor) => {
    const rest = await openStream(dependencies, { conversationId, cursor });

    expect(await collect(rest)).toEqual(all.slice(cursor + 1));
  });

  test.each(everyId)('goes on after id %i for one who sends again', async (cursor) => {
    const again = await sendMessage(dependencies, { ...send, cursor });

    expect(await collect(again.frames())).toEqual(all.slice(cursor + 1));
  });

  test('without a cursor is the stored text as one delta, with the id of the last one', async () => {
    const frames = await collect(await openStream(dependencies, { conversationId }));

    expect(idsOf(frames)).toEqual([0, 1, 6, 7, 8, 9]);
    expect(typesOf(frames)).toEqual(typesOf(collapseFrames(all)));
    const stored = await storedTurn(dependencies, conversationId);
    expect(textOf(frames)).toBe(stored.contents.map(contentText).join(''));
  });

  test('has nothing left after its last id', async () => {
    expect(await readStream(dependencies, { conversationId, cursor: LAST_ID })).toBeUndefined();
    const again = await sendMessage(dependencies, { ...send, cursor: LAST_ID });
    expect(await collect(again.frames())).toEqual([]);
  });

  test('refuses a reader’s cursor behind its last id, and replays all of it to a sender', async () => {
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
    const chat = await answered(WORDS, { clock, conversationId });
    const { store } = chat.dependencies;
    await store.deleteBelow(`conversations/${conversationId}/streams/t_1`);
    return { ...chat, conversationId };
  }

  test('cannot be continued', async () => {
    const { dependencies, conversationId } = await purged();

    await expect(readStream(dependencies, { conversationId, cursor: 3 })).rejects.toMatchObject({
      reason: 'STREAM_EXPIRED',
      httpStatus: 410,
    });
  });

  test('is replayed to one who sends again, and to one without a cursor', async () => {
    const { dependencies, conversationId, send } = await purged();

    const again = await collect((await sendMessage(dependencies, { ...send, cursor: 3 })).frames());

    expect(idsOf(again)).toEqual([0, 1, 6, 7, 8, 9]);
    expect(await collect(await openStream(dependencies, { conversationId }))).toEqual(again);
  });
});

describe('a running stream', () => {
  async function running(overrides: Partial<ChatDependencies> = {}) {
    const clock = createManualClock();
    const conversationId = randomUUID();
    const chat = steeredChat({ clock, ...overrides });
    const send = request(conversationId, 'Tell me.');
    const handle = await sendMessage(chat.dependencies, send);
    const all = collect(handle.frames());
    const call = await chat.call();
    await sayEach(clock, call, WORDS.slice(0, 3));
    return { ...chat, clock, conversationId, send, handle, call, all };
  }

  test('gives one who comes later what was said as one delta, then goes on live', async () => {
    const { dependencies, conversationId, call, clock, all } = await running();

    const frames = collect(await openStream(dependencies, { conversationId }));
    await settle();
    await sayEach(clock, call, WORDS.slice(3));
    call.end();

    const ids = idsOf(await frames);
    expect(ids).toEqual([0, 1, 4, 5, 6, 7, 8, 9]);
    expect(textOf(await frames)).toBe(textOf(await all));
  });

  test.each([0, 1, 2, 3, 4])('goes on after id %i without a gap', async (cursor) => {
    const { dependencies, conversationId, call, clock, all } = await running();

    const frames = collect(await openStream(dependencies, { conversationId, cursor }));
    await sayEach(clock, call, WORDS.slice(3));
    call.end();

    expect(await frames).toEqual((await all).slice(cursor + 1));
  });

  test('refuses a cursor of an attempt that has not been', async () => {
    const { dependencies, conversationId } = await running();

    await expect(
      readStream(dependencies, { conversationId, cursor: 1_000_000 }),
    ).rejects.toMatchObject({ reason: 'BAD_FIELD' });
  });

  test('refuses a reader’s cursor ahead of what was said, and tells the last id', async () => {
    const { dependencies, conversationId } = await running();

    await expect(readStream(dependencies, { conversationId, cursor: 5 })).rejects.toMatchObject({
      reason: 'BAD_FIELD',
      metadata: { lastFrameId: '4' },
    });
  });

  test('is given whole to a sender with a cursor ahead of what was said', async () => {
    const { dependencies, call, clock, send } = await running();

    const again = await sendMessage(dependencies, { ...send, cursor: 700 });
    const frames = collect(again.frames());
    await sayEach(clock, call, WORDS.slice(3));
    call.end();

    expect(textOf(await frames)).toBe(WORDS.join(''));
    expect(idsOf(await frames)[0]).toBe(0);
  });

  test.each([
    ['who only reads', false],
    ['who sent the same message', true],
  ])(
    'of another instance is given whole at its end to one with a cursor ahead of it, %s',
    async (_, isSender) => {
      const { dependencies, conversationId, call, clock, send } = await running();
      const other = chatDependencies({ store: dependencies.store, clock, model: silentModel() });
      const cursor = 700;

      const frames = collect(
        isSender
          ? (await sendMessage(other, { ...send, cursor })).frames()
          : await openStream(other, { conversationId, cursor }),
      );
      await sayEach(clock, call, WORDS.slice(3));
      call.end();
      await pass(clock, 1_000);

      expect(textOf(await frames)).toBe(WORDS.join(''));
      expect(idsOf(await frames).at(-1)).toBe(LAST_ID);
    },
  );

  test('has the same frames on another instance while the model still speaks', async () => {
    const { dependencies, conversationId, call, clock, all } = await running();
    const other = chatDependencies({ store: dependencies.store, clock });

    const frames = await openStream(other, { conversationId, cursor: 1 });
    const early = readUntil(frames, (read) => textOf(read) === 'One two three ');
    await pass(clock, 600);

    const read = await early;
    expect(idsOf(read)).toEqual([2, 3, 4]);
    const later = collect(await openStream(other, { conversationId, cursor: 4 }));
    await sayEach(clock, call, WORDS.slice(3));
    call.end();
    expect([...read, ...(await later)]).toEqual((await all).slice(2));
  });

  test('without a cursor on another instance is what is stored as one delta, then live', async () => {
    const { dependencies, conversationId, call, clock, all } = await running();
    const other = chatDependencies({ store: dependencies.store, clock });
    await pass(clock, 600);

    const frames = collect(await openStream(other, { conversationId }));
    await settle();
    await sayEach(clock, call, WORDS.slice(3));
    call.end();

    expect(idsOf(await frames).slice(0, 3)).toEqual([0, 1, 4]);
    expect(textOf(await frames)).toBe(textOf(await all));
    expect(idsOf(await frames).at(-1)).toBe(LAST_ID);
  });

  test('reaches one who sent the same message to another instance, result included', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const chat = steeredChat({ store, clock });
    const send = request(randomUUID(), 'Tell me.');
    const first = await sendMessage(chat.dependencies, send);
    const second = await sendMessage(chatDependencies({ store, clock }), send);
    const frames = collect(second.frames());

    const call = await chat.call();
    await sayEach(clock, call, WORDS);
    await pass(clock, 600);
    call.end();

    expect((await second.result).turn).toMatchObject({ state: 'done', seq: 1 });
    expect(textOf(await frames)).toBe(WORDS.join(''));
    await first.result;
    expect(chat.calls).toHaveLength(1);
  });
});

describe('a turn that is taken over', () => {
  /** The first instance dies after it said and stored something. */
  async function died() {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const conversationId = randomUUID();
    const send = request(conversationId, 'Tell me.');
    let isDead = false;
    const dead = steeredChat({
      store,
      clock,
      atCrashPoint: () => (isDead ? new Promise(() => undefined) : Promise.resolve()),
    });
    await sendMessage(dead.dependencies, send);
    await sayEach(clock, await dead.call(), ['Half an ', 'answer']);
    await pass(clock, 600);
    isDead = true;
    (await dead.call()).say('!'.repeat(2_000));
    return { store, clock, conversationId, send, dead };
  }
  const second = () => scriptedStreamer(textAnswer('Another answer.')).model;

  test('begins anew above all ids of the first attempt and says what to drop', async () => {
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

  test('gives an old cursor the new attempt from its beginning', async () => {
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

  test('goes on for a reader of the first attempt when its sender comes back', async () => {
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

  test('is taken over by one who sent the same message and waited', async () => {
    const { store, clock, send } = await died();
    const alive = chatDependencies({ store, clock, model: second() });

    const handle = await sendMessage(alive, send);
    const frames = collect(handle.frames());
    await pass(clock, 22_000, 500);

    expect((await handle.result).turn).toMatchObject({ attempt: 2, state: 'done' });
    expect(textOf((await frames).filter(({ id }) => id >= 1_000_000))).toBe('Another answer.');
  });

  test('is taken over by a mere reader when nobody else comes', async () => {
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

  test('is answered to its end after the reader who took it over has left', async () => {
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

  test('is given up by a mere reader after the third attempt, and then there is nothing left', async () => {
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

  test('and closed by the next message ends for its readers with that error', async () => {
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
