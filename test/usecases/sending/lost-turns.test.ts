import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { deleteConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { undeleteConversation } from '#functions/chat/conversations/erase/undelete-conversation.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { requestCancel } from '#functions/chat/turns/finish/cancel-turn.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { AppError } from '#shared/errors.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { overloaded } from '#test/support/model-down.ts';
import { collect, request } from '#test/support/chat/sending.ts';
import {
  idsOf,
  openStream,
  pass,
  readStream,
  sayEach,
  settle,
  shownText,
  silentModel,
  stalled,
  steeredChat,
  stoppable,
  storedTurn,
} from '#test/support/chat/streaming.ts';

describe('one who waits for the whole answer of an instance that lost its turn', () => {
  test('a waiting caller of a lost turn gets the answer of the attempt that took over', async () => {
    const { store, clock, goOn, send, handle } = await stalled();
    const other = steeredChat({ store, clock });
    await sendMessage(other.dependencies, send);
    goOn();
    await settle();

    (await other.call()).say('Second.');
    (await other.call()).end();
    await pass(clock, 2_000);

    const { turn } = await handle.result;
    expect(turn).toMatchObject({ state: 'done', attempt: 2 });
    expect(turn.contents.map(contentText)).toEqual(['Second.']);
  });

  test('a waiting caller of a lost turn gets the turn cancelled elsewhere', async () => {
    const { store, clock, goOn, conversationId, handle } = await stalled();
    const other = chatDependencies({ store, clock, model: silentModel() });
    await requestCancel(other, { conversationId, seq: 1 });
    goOn();
    await pass(clock, 2_000);

    expect((await handle.result).turn).toMatchObject({ state: 'cancelled', attempt: 1 });
  });
});

/**
 * An answer that fails at one instance while another follows it; a third one is asked for it again just
 * before the follower reads the store the `reads`-th time after the failure.
 */
async function askedAgain(reads: number) {
  const store = createMemoryDocumentStore();
  const clock = createManualClock();
  const conversationId = randomUUID();
  const send = request(conversationId, 'Tell me.');
  const failing = steeredChat({ store, clock });
  const third = steeredChat({ store, clock });
  let left = Number.POSITIVE_INFINITY;
  const follower = chatDependencies({
    clock,
    model: silentModel(),
    store: {
      ...store,
      get: async (paths) => {
        left -= 1;
        if (left === 0) {
          clock.advance(1_500); // as long as the phone was told to wait
          await sendMessage(third.dependencies, send);
        }
        return store.get(paths);
      },
    },
  });
  const first = await sendMessage(failing.dependencies, send);
  const handle = await sendMessage(follower, send);
  await settle();
  left = reads;
  (await failing.call()).fail(overloaded());
  await expect(first.result).rejects.toMatchObject({ reason: 'MODEL_OVERLOADED' });
  await pass(clock, 600);
  return { clock, send, handle, third };
}

test.each([
  [1, 'done: Second.'],
  [2, 'done: Second.'],
  [3, 'MODEL_OVERLOADED'],
  [4, 'MODEL_OVERLOADED'],
])(
  'a caller at another instance gets the failure or the retried answer, before read %d',
  async (reads, expected) => {
    const { clock, send, handle, third } = await askedAgain(reads);
    await pass(clock, 1_500);
    await sendMessage(third.dependencies, send);
    (await third.call()).say('Second.');
    (await third.call()).end();
    await pass(clock, 2_000);

    const told = await handle.result.then(
      ({ turn }) => `${turn.state}: ${turn.contents.map(contentText).join('')}`,
      (error: unknown) => (error instanceof AppError ? error.reason : String(error)),
    );
    expect(told).toBe(expected);
  },
);

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

  test.each(endings)(
    'a reader ahead who reconnects returns to the stored frames when somebody %s',
    async (_, end) => {
      const world = await saidMore();
      const seen = [...world.read];
      await end(world);

      const { other, conversationId } = world;
      const cursor = seen.at(-1)?.id;
      const rest = await collect(await openStream(other, { conversationId, cursor }));

      expect(shownText([...seen, ...rest])).toBe('Hello ');
      expect(risesIn(idsOf([...seen, ...rest]))).toBe(true);
      world.goOn();
      await pass(world.clock, 2_000);
      await world.reading;
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
