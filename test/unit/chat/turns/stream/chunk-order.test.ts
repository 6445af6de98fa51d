import { createDeltaCoalescer } from '#functions/chat/turns/answer/text-frames.ts';
import { expect, test } from 'vitest';
import { createChunkOrder } from '#functions/chat/turns/stream/follow-frames.ts';
import type { StreamChunkDocument } from '#shared/wire/stream-chunk.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { idsOf } from '#test/support/chat/streaming.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';

const frame = (id: number): StreamFrame => ({
  id,
  chunk: { type: 'text-delta', id: 'p0', delta: `${id} ` },
});

const chunk = (ids: number[], more: Partial<StreamChunkDocument> = {}): StreamChunkDocument => ({
  attempt: 1,
  producer: 'p',
  firstId: ids[0] ?? 0,
  lastId: ids.at(-1) ?? 0,
  frames: ids.map(frame),
  expireTime: new Date(0),
  ...more,
});

test.each([
  [1, [2, 3, 4]],
  [2, [3, 4]],
  [4, []],
  [9, []],
])('a reader after cursor %i gets only the later frames', (cursor, ids) => {
  const order = createChunkOrder(1, cursor);

  order.put(chunk([0, 1, 2]));
  order.put(chunk([3, 4]));

  expect(idsOf(order.take())).toEqual(ids);
});

test('a reader without a cursor gets stored frames collapsed and later ones as they are', () => {
  const order = createChunkOrder(1, undefined);

  order.put(chunk([0, 1]));
  order.put(chunk([2]));
  expect(idsOf(order.take())).toEqual([2]);
  order.put(chunk([3, 4]));

  expect(idsOf(order.take())).toEqual([3, 4]);
});

test('the final chunk ends the attempt; a chunk of a later attempt supersedes it', () => {
  const order = createChunkOrder(1, undefined);

  order.put(chunk([0], { final: true }));
  order.take();
  expect([order.isEnded(), order.isSuperseded()]).toEqual([true, false]);
  order.put(chunk([1_000_000], { attempt: 2 }));

  expect(order.isSuperseded()).toBe(true);
  expect(order.take()).toEqual([]);
});

test('a chunk of an earlier attempt is not delivered and ends nothing', () => {
  const order = createChunkOrder(2, undefined);

  order.put(chunk([0, 1], { attempt: 1, final: true }));

  expect(order.take()).toEqual([]);
  expect([order.isEnded(), order.isSuperseded()]).toEqual([false, false]);
});

function coalescer() {
  const clock = createManualClock();
  const deltas: string[] = [];
  const coalesce = createDeltaCoalescer({ clock, emit: (delta) => deltas.push(delta) });
  return { clock, deltas, ...coalesce };
}

test('deltas within the interval are joined into one', async () => {
  const { push, flush, deltas } = coalescer();

  for (const text of ['a', 'b', 'c']) push(text);
  await flush();

  expect(deltas).toEqual(['a', 'bc']);
});

test('a waiting delta goes out at the end of the interval', async () => {
  const { push, clock, deltas } = coalescer();

  push('a');
  push('b');
  clock.advance(40);
  await Promise.resolve();
  await Promise.resolve();

  expect(deltas).toEqual(['a', 'b']);
});

test('no delta ends between the halves of a surrogate pair', async () => {
  const { push, flush, deltas } = coalescer();

  push('a\uD83D');
  push('\uDE00b');
  await flush();

  expect(deltas).toEqual(['a', '😀b']);
});
