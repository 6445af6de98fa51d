import { expect, test, vi } from 'vitest';
import { interruptible, isEnd } from '#functions/lib/abortable.ts';

async function* one(): AsyncGenerator<number> {
  yield await Promise.resolve(1);
}

const silent: AsyncIterator<number> = { next: () => new Promise(() => undefined) };

test('interruptible yields the source’s values and tells each, and the end', async () => {
  const settled = vi.fn<(result?: IteratorResult<number>) => void>();
  const items = interruptible(one(), settled);

  expect(await items.next()).toEqual({ done: false, value: 1 });
  expect(settled.mock.lastCall?.map(isEnd)).toEqual([false]);
  expect(await items.next()).toEqual({ done: true, value: undefined });
  expect(settled.mock.lastCall?.map(isEnd)).toEqual([true]);
});

test('interruptible fails as its source fails', async () => {
  const settled = vi.fn<(result?: IteratorResult<number>) => void>();
  const items = interruptible({ next: () => Promise.reject(new Error('own')) }, settled);

  await expect(items.next()).rejects.toThrow('own');
  expect(settled.mock.calls).toEqual([[]]);
  expect(isEnd(settled.mock.lastCall?.[0])).toBe(true);
});

test('an interruption fails a pending read, though the source is silent', async () => {
  const items = interruptible(silent, () => undefined);
  const waiting = items.next();

  items.interrupt(new Error('enough'));

  await expect(waiting).rejects.toThrow('enough');
});

test('after an interruption the source is not read, and the first error stays', async () => {
  const next = vi.fn<AsyncIterator<number>['next']>();
  const items = interruptible({ next }, () => undefined);

  items.interrupt(new Error('first'));
  items.interrupt(new Error('second'));

  await expect(items.next()).rejects.toThrow('first');
  expect(next).not.toHaveBeenCalled();
});
