import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import type { Write } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, textOf } from '#test/support/chat/sending.ts';
import { speaking, storedChunks } from '#test/support/speaking.ts';
import { openStream, pass, sayEach, settle, stalled } from '#test/support/chat/streaming.ts';

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

  test.each(['a flush', 'the finish'])(
    'a lost reply of %s just before the end stores every frame once',
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
      await pass(clock, 600);
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

test('a flush overtaken by a take-over writes nothing', async () => {
  const world = await stalled();
  await takeOver(world);
  const before = await storedChunks(world.store, world.conversationId);

  world.goOn();
  expect((await world.handle.result).turn.attempt).toBe(2);

  expect(await storedChunks(world.store, world.conversationId)).toEqual(before);
  expect(before.every(({ attempt }) => attempt === 2)).toBe(true);
});

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
