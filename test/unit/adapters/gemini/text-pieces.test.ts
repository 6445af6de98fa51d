import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readPieces } from '#functions/adapters/gemini/text-pieces.ts';

async function readAll(connection: PassThrough): Promise<string[]> {
  const pieces = readPieces(connection);
  const all: string[] = [];
  for (;;) {
    const piece = pieces.take() ?? (await pieces.next());
    if (piece === undefined) return all;
    all.push(piece);
  }
}

test('text pieces deliver what arrives, then the end', async () => {
  const connection = new PassThrough();
  const reading = readAll(connection);
  connection.write('one');
  setImmediate(() => connection.end('two'));

  expect(await reading).toEqual(['one', 'two']);
});

test('text pieces deliver a split character whole', async () => {
  const bytes = Buffer.from('안녕 👋🏽');
  for (let cut = 1; cut < bytes.length; cut++) {
    const connection = new PassThrough();
    const reading = readAll(connection);
    connection.write(bytes.subarray(0, cut));
    setImmediate(() => connection.end(bytes.subarray(cut)));

    expect((await reading).join('')).toBe('안녕 👋🏽');
  }
});

test('text pieces throw a connection error after the text before it', async () => {
  const connection = new PassThrough();
  const pieces = readPieces(connection);
  connection.write('one');
  expect(await pieces.next()).toBe('one');
  const next = pieces.next();
  connection.destroy(new Error('ECONNRESET'));

  await expect(next).rejects.toThrow('ECONNRESET');
});

test('text pieces of a connection closed early are an error, also for later readers', async () => {
  const connection = new PassThrough();
  connection.destroy();

  await expect(readPieces(connection).next()).rejects.toThrow('closed before its end');
});
