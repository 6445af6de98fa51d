import { expect, test } from 'vitest';
import { createDeltaCoalescer } from '#functions/chat/turns/live/text-frames.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';

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
