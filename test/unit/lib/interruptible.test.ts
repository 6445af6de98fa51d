import { expect, test, vi } from 'vitest';
import { interruptible } from '#functions/lib/abortable.ts';

async function* one(): AsyncGenerator<number> {
  yield await Promise.resolve(1);
}

const silent: AsyncIterator<number> = { next: () => new Promise(() => undefined) };

test('interruptible yields the source’s values and reports its end once', async () => {
  const ended = vi.fn<() => void>();
  const items = interruptible(one(), ended);

  expect(await items.next()).toEqual({ done: false, value: 1 });
  expect(ended).not.toHaveBeenCalled();
  expect(await items.next()).toEqual({ done: true, value: undefined });
  expect(ended).toHaveBeenCalledTimes(1);
});

test('interruptible fails as its source fails', async () => {
  const ended = vi.fn<() => void>();
  const items = interruptible({ next: () => Promise.reject(new Error('own')) }, ended);

  await expect(items.next()).rejects.toThrow('own');
  expect(ended).toHaveBeenCalledTimes(1);
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
