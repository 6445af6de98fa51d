import { expect, test } from 'vitest';
import { untilAborted } from '#functions/lib/abortable.ts';

async function* forEver(): AsyncGenerator<number> {
  yield 1;
  await new Promise(() => undefined);
}

test('abortable leaves a source that ignores the signal when it fires', async () => {
  const abort = new AbortController();
  const read: number[] = [];
  const reading = (async () => {
    for await (const value of untilAborted(forEver(), abort.signal)) {
      read.push(value);
      setImmediate(() => abort.abort());
    }
  })();

  await expect(reading).rejects.toMatchObject({ reason: 'ABORTED' });
  expect(read).toEqual([1]);
});

test('abortable does not read a source after the signal', async () => {
  const values = untilAborted(forEver(), AbortSignal.abort());

  await expect(values.next()).rejects.toMatchObject({ reason: 'ABORTED' });
});

test('abortable without a signal passes all values and the source’s own error', async () => {
  async function* source() {
    yield await Promise.resolve(1);
    throw new Error('own');
  }
  const read: number[] = [];
  const reading = (async () => {
    for await (const value of untilAborted(source(), new AbortController().signal))
      read.push(value);
  })();

  await expect(reading).rejects.toThrow('own');
  expect(read).toEqual([1]);
});
