import type { Readable } from 'node:stream';

/** A text as it comes over a connection. */
export interface Pieces {
  /** What has come and was not taken; undefined: nothing yet. */
  take(): string | undefined;
  /** The next piece as soon as it comes; undefined at the end. Throws what breaks the connection. */
  next(): Promise<string | undefined>;
}

/** UTF-16 units that wait for a slow reader at most, before the connection is held up. */
const WAITING_MAX_CHARACTERS = 64 * 1024;

/**
 * Reads a connection as UTF-8. The iterator of Node's streams does the same with a handful of promises and listeners a
 * piece, and a model's stream has hundreds of them.
 */
export function readPieces(connection: Readable): Pieces {
  let text = '';
  let waiting: PromiseWithResolvers<string | undefined> | undefined;
  let ended: { error?: Error } | undefined;
  const take = (): string | undefined => {
    if (text === '') return undefined;
    const piece = text;
    text = '';
    if (connection.isPaused()) connection.resume();
    return piece;
  };
  const settle = () => {
    if (!waiting) return;
    const piece = take();
    if (piece === undefined && !ended) return;
    const { resolve, reject } = waiting;
    waiting = undefined;
    if (piece === undefined && ended?.error) reject(ended.error);
    else resolve(piece);
  };
  const end = (error?: Error) => {
    ended ??= error ? { error } : {};
    settle();
  };
  const broken = () => new Error('the connection was closed before its end');
  connection.setEncoding('utf8');
  connection.on('data', (piece: string) => {
    text += piece;
    if (text.length > WAITING_MAX_CHARACTERS) connection.pause();
    settle();
  });
  connection.on('end', () => end());
  connection.on('error', (error: Error) => end(error));
  connection.on('close', () => {
    if (!ended) end(broken());
  });
  if (connection.destroyed) end(connection.errored ?? broken());
  return {
    take,
    next: () => {
      const { promise } = (waiting = Promise.withResolvers());
      settle();
      return promise;
    },
  };
}
