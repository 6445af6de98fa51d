import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import {
  deleteConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { requestCancel } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/models/content.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { collapseFrames, type StreamFrame } from '#shared/wire/resources/streams.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { textAnswer, scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { serveForTest } from '#test/support/chat/chat-server.ts';
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
  settle,
  silentModel,
  stoppable,
  shownText,
} from '#test/support/chat/streaming.ts';
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';

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

  test.each(everyId)(
    'a finished stream continues after id %i with exactly the later frames',
    async (cursor) => {
      const rest = await openStream(dependencies, { conversationId, cursor });

      expect(await collect(rest)).toEqual(all.slice(cursor + 1));
    },
  );

  test('a finished stream without a cursor is one text delta with the last id', async () => {
    const frames = await collect(await openStream(dependencies, { conversationId }));

    expect(idsOf(frames)).toEqual([0, 1, 6, 7, 8, 9]);
    expect(typesOf(frames)).toEqual(typesOf(collapseFrames(all)));
    const stored = await storedTurn(dependencies, conversationId);
    expect(textOf(frames)).toBe(stored.contents.map(contentText).join(''));
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

  test.each([0, 2, 4])('a running stream continues after id %i without a gap', async (cursor) => {
    const { dependencies, conversationId, call, clock, all } = await running();

    const frames = collect(await openStream(dependencies, { conversationId, cursor }));
    await sayEach(clock, call, FIVE_WORDS.slice(3));
    call.end();

    expect(await frames).toEqual((await all).slice(cursor + 1));
  });

  test('a running stream refuses a reader’s cursor beyond its end, with the last id', async () => {
    const { dependencies, conversationId } = await running();

    await expect(readStream(dependencies, { conversationId, cursor: 5 })).rejects.toMatchObject({
      reason: 'BAD_FIELD',
      metadata: { lastFrameId: '4' },
    });
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
});

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
    return { store, clock, conversationId, send };
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
});

const TURN = 10_000_000;

const body = (text: string) => ({ message: { id: randomUUID(), parts: [{ type: 'text', text }] } });

/** A conversation of which the first `count` turns are answered, and the one after it is on its way. */
async function conversation(count: number) {
  const steered = steeredStreamer();
  const server = await serveForTest({ overrides: { model: steered.model } });
  const path = `/v1/conversations/${randomUUID()}`;
  const headers = { accept: 'text/event-stream' };
  const send = (n: number) =>
    server.call(`${path}/messages`, { body: body(`Question ${n}`), headers });
  const answer = async (n: number) => {
    const call = await steered.call(n - 1);
    call.say(`Answer ${n}`);
    call.end();
  };
  for (let n = 1; n <= count; n++) {
    const response = await send(n);
    await answer(n);
    await response.text();
  }
  const stream = (cursor?: number) =>
    server.call(`${path}/stream`, {
      ...(cursor !== undefined && { headers: { 'last-event-id': String(cursor) } }),
    });
  return { send, answer, stream };
}

const eventIds = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

test('a conversation stream resumes the cursor’s turn while another one runs', async () => {
  const { send, stream } = await conversation(1);
  await send(2);

  const response = await stream(TURN + 1);

  const text = await response.text();
  expect(eventIds(text)).toEqual([2, 3, 4, 5].map((id) => TURN + id));
  expect(text).toContain('Answer 1');
});

test('a conversation stream follows a next turn that still runs', async () => {
  const { send, answer, stream } = await conversation(1);
  await send(2);

  const response = await stream(TURN + 5);
  await answer(2);

  expect(await response.text()).toContain('Answer 2');
});

describe('a reader who has seen more than is stored of an answer that others ended', () => {
  /** An instance that has stored "Hello " and said more; it stalls before it stores the rest. */
  async function saidMore() {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const process = stoppable({ store, clock });
    const conversationId = randomUUID();
    const slow = steeredChat({ store: process.store, clock: process.clock });
    const handle = await sendMessage(slow.dependencies, request(conversationId, 'Tell me.'));
    const read: StreamFrame[] = [];
    const reading = (async () => {
      for await (const frame of handle.frames()) read.push(frame);
    })();
    await sayEach(clock, await slow.call(), ['Hello ']);
    await pass(clock, 600);
    await sayEach(clock, await slow.call(), ['you ', 'there.']);
    const goOn = process.stop();
    await pass(clock, 600);
    const other = chatDependencies({ store, clock, model: silentModel() });
    return { clock, goOn, conversationId, handle, other, read, reading };
  }

  const risesIn = (ids: readonly number[]) =>
    ids.every((id, i) => i === 0 || id > (ids[i - 1] ?? id));

  const endings: [string, (world: Awaited<ReturnType<typeof saidMore>>) => Promise<unknown>][] = [
    [
      'cancelled it after its lease',
      ({ clock, other, conversationId }) => {
        clock.advance(20_001);
        return requestCancel(other, { conversationId, seq: 1 });
      },
    ],
    [
      'put the conversation into the bin and took it out',
      async ({ other, conversationId }) => {
        const target = { caller: { uid: 'u1', tier: 'signedIn' } as const, conversationId };
        await deleteConversation(other, target);
        await undeleteConversation(other, target);
      },
    ],
  ];

  test.each(endings)(
    'a reader ahead of the stored frames returns to them when somebody %s',
    async (_, end) => {
      const world = await saidMore();
      const seenBefore = shownText(world.read);
      await end(world);
      world.goOn();
      await pass(world.clock, 2_000);
      await world.reading;

      const stored = await storedTurn(world.other, world.conversationId);
      expect(seenBefore).toBe('Hello you there.');
      expect(stored.contents.map(contentText)).toEqual(['Hello ']);
      expect(shownText(world.read)).toBe('Hello ');
      expect(risesIn(idsOf(world.read))).toBe(true);
      expect(world.read.at(-1)?.chunk.type).toBe('finish');
    },
  );

  test('a reader ahead gets the same whichever last frame the connection breaks after', async () => {
    const world = await saidMore();
    const seen = [...world.read];
    await endings[0]?.[1](world);
    const { other, conversationId } = world;
    const from = (cursor: number | undefined) => readStream(other, { conversationId, cursor });
    const all = await collect(await openStream(other, { conversationId, cursor: seen.at(-1)?.id }));

    for (const [index, { id }] of all.entries()) {
      const rest = await from(id);
      expect(rest ? await collect(rest) : []).toEqual(all.slice(index + 1));
    }
    world.goOn();
    await pass(world.clock, 2_000);
    await world.reading;
  });
});
