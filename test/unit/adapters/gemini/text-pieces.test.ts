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

test('gives what comes, then the end', async () => {
  const connection = new PassThrough();
  const reading = readAll(connection);
  connection.write('one');
  setImmediate(() => connection.end('two'));

  expect(await reading).toEqual(['one', 'two']);
});

test('a character whose bytes come apart comes whole', async () => {
  const bytes = Buffer.from('안녕 👋🏽');
  for (let cut = 1; cut < bytes.length; cut++) {
    const connection = new PassThrough();
    const reading = readAll(connection);
    connection.write(bytes.subarray(0, cut));
    setImmediate(() => connection.end(bytes.subarray(cut)));

    expect((await reading).join('')).toBe('안녕 👋🏽');
  }
});

test('what breaks the connection is thrown after what had come', async () => {
  const connection = new PassThrough();
  const pieces = readPieces(connection);
  connection.write('one');
  expect(await pieces.next()).toBe('one');
  const next = pieces.next();
  connection.destroy(new Error('ECONNRESET'));

  await expect(next).rejects.toThrow('ECONNRESET');
});

test('a connection that is closed before its end is an error, also for who comes later', async () => {
  const connection = new PassThrough();
  connection.destroy();

  await expect(readPieces(connection).next()).rejects.toThrow('closed before its end');
});
