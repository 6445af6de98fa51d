import { expect, test, vi } from 'vitest';
import { callAtEnd, chainIterators } from '#functions/lib/async-iterators.ts';

const stays = new AbortController().signal;

async function* say<End>(items: readonly string[], end: End): AsyncGenerator<string, End> {
  for (const item of items) yield await Promise.resolve(item);
  return end;
}

async function collect(items: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

test('what is continued goes on with what its end asks for, and then no more', async () => {
  const items = chainIterators(say(['a', 'b'], 'c'), (end) => say([end, 'd'], undefined));

  expect(await collect(items)).toEqual(['a', 'b', 'c', 'd']);
  expect(await items.next()).toEqual({ done: true, value: undefined });
});

test('what has nothing behind it asks once for more', async () => {
  const goOn = vi.fn<() => undefined>();
  const items = chainIterators(say(['a'], 'end'), goOn);

  expect(await collect(items)).toEqual(['a']);
  expect(await items.next()).toEqual({ done: true, value: undefined });
  expect(goOn.mock.calls).toEqual([['end']]);
});

test.each([
  { of: 'the first items', read: 1 },
  { of: 'those behind them', read: 2 },
])('who leaves in the middle of $of closes them', async ({ read }) => {
  const left: string[] = [];
  const leaving = async function* (name: string, items: string[]): AsyncGenerator<string> {
    try {
      yield* items;
    } finally {
      left.push(name);
    }
  };
  const items = chainIterators(leaving('first', ['a']), () => leaving('second', ['b', 'c']));
  for (let n = 0; n < read; n++) await items.next();

  await items.return?.();

  expect(left.at(-1)).toBe(read === 1 ? 'first' : 'second');
});

test('callAtEnd tells when its items have ended', async () => {
  const end = vi.fn<() => void>();

  expect(await collect(callAtEnd(say(['a'], undefined), stays, end))).toEqual(['a']);

  expect(end).toHaveBeenCalledTimes(1);
});

test('callAtEnd tells when its items break', async () => {
  const end = vi.fn<() => void>();
  const broken = { next: () => Promise.reject(new Error('broken')) };

  await expect(collect(callAtEnd(broken, stays, end))).rejects.toThrow('broken');

  expect(end).toHaveBeenCalledTimes(1);
});

test('callAtEnd tells when its reader leaves', async () => {
  const end = vi.fn<() => void>();
  const items = callAtEnd(say(['a', 'b'], undefined), stays, end);
  await items.next();

  await items.return?.();

  expect(end).toHaveBeenCalledTimes(1);
});

test('what broke is not continued', async () => {
  const goOn = vi.fn<() => undefined>();
  const items = chainIterators({ next: () => Promise.reject(new Error('cut')) }, goOn);

  await expect(items.next()).rejects.toThrow('cut');

  expect(await items.next()).toEqual({ done: true, value: undefined });
  expect(goOn).not.toHaveBeenCalled();
});

test('who has left is given nothing more', async () => {
  const items = chainIterators(say(['a', 'b'], 'end'), () => say(['late'], undefined));
  await items.next();

  await items.return?.();

  expect(await items.next()).toEqual({ done: true, value: undefined });
});

test('what is opened for a reader who leaves meanwhile is closed', async () => {
  const opened = Promise.withResolvers<AsyncGenerator<string, undefined>>();
  const close = vi.fn<() => Promise<IteratorResult<string, undefined>>>(() =>
    Promise.resolve({ done: true, value: undefined }),
  );
  const goOn = vi.fn<() => typeof opened.promise>(() => opened.promise);
  const items = chainIterators(say([], 'end'), goOn);
  const pending = items.next();
  await vi.waitFor(() => expect(goOn).toHaveBeenCalled());
  await items.return?.();

  opened.resolve(Object.assign(say(['late'], undefined), { return: close }));

  expect(await pending).toEqual({ done: true, value: undefined });
  expect(close).toHaveBeenCalledTimes(1);
});

test('callAtEnd tells when its reader has left before anything was read', () => {
  const end = vi.fn<() => void>();

  callAtEnd(say(['a'], undefined), AbortSignal.abort(), end);

  expect(end).toHaveBeenCalledTimes(1);
});
