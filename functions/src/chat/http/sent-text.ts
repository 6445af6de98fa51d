import { ABORT_REASON } from '#functions/lib/async-iterators.ts';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as endOfTurn } from 'node:timers/promises';

/** A text that is made while it is sent. */
interface SentText {
  /** `left` fires when its reader has gone, also while the text has nothing to say. */
  pieces: (left: AbortSignal) => AsyncIterableIterator<string>;
  /** A text that throws ends the connection, not the body: the server would print the error as it is. */
  onBroken: (error: unknown) => void;
}

const textsOf = new WeakMap<ReadableStream, SentText>();

/** The text behind a body, for who can send it without the streams of the web. */
export const sentText = (body: ReadableStream | null): SentText | undefined =>
  body === null ? undefined : textsOf.get(body);

async function* encoded(text: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of text) yield encoder.encode(piece);
}

/** A text as the body of a response; nothing of it is made before it is read. */
export function toBody(text: SentText): ReadableStream<Uint8Array> {
  const left = new AbortController();
  const closed = Promise.withResolvers<void>();
  let pieces: AsyncGenerator<Uint8Array> | undefined;
  const open = () => (pieces ??= encoded(text.pieces(left.signal)));
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await open().next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          text.onBroken(error);
          await closed.promise;
        }
      },
      cancel: async () => {
        left.abort(ABORT_REASON);
        closed.resolve();
        await open().return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  textsOf.set(body, text);
  return body;
}

/** UTF-16 units that wait for the connection at most, before the text is asked for more. */
const WAITING_MAX_CHARACTERS = 64 * 1024;

/** Resolves when the connection takes more, or is gone. */
async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  over.abort(ABORT_REASON);
}

/** Where a text goes out: all that comes within one turn of the event loop goes out together. */
function createOutlet(response: ServerResponse) {
  let waiting = '';
  let hasBegun = false;
  let flushing: Promise<void> | undefined;
  const flush = async () => {
    while (waiting !== '') {
      await endOfTurn();
      const text = waiting;
      waiting = '';
      if (text !== '' && !response.destroyed && !response.write(text)) await drained(response);
    }
    flushing = undefined;
  };
  return {
    /** Resolves at once, but for a reader who is far behind. */
    add: async (piece: string) => {
      if (response.destroyed) return;
      hasBegun = true;
      waiting += piece;
      flushing ??= flush();
      if (waiting.length > WAITING_MAX_CHARACTERS) await flushing;
    },
    /** Sends what waits, or the headers alone where nothing has been said yet. */
    sendNow: () => {
      if (response.destroyed) return;
      if (waiting !== '') response.write(waiting);
      else if (!hasBegun) response.flushHeaders();
      waiting = '';
    },
    end: async () => {
      await flushing;
      if (!response.destroyed) response.end();
    },
  };
}

/**
 * Sends a text as the body of a response by Node's own means: the streams of the web would cost a packet and a dozen
 * promises a piece. Headers go out with the first pieces, or alone where these take their time. Resolves when all is
 * written, or the reader has gone; never rejects.
 */
export async function writeText(
  response: ServerResponse,
  { pieces, onBroken }: SentText,
  head: { status: number; headers: Headers },
): Promise<void> {
  const left = new AbortController();
  const text = pieces(left.signal);
  const leave = () => {
    left.abort(ABORT_REASON);
    void text.return?.().catch(() => undefined);
  };
  response.once('close', leave);
  // Who left before this is not told of again.
  if (response.destroyed) leave();
  response.writeHead(head.status, Object.fromEntries(head.headers));
  const outlet = createOutlet(response);
  setImmediate(outlet.sendNow);
  try {
    for await (const piece of text) await outlet.add(piece);
    await outlet.end();
  } catch (error) {
    outlet.sendNow();
    onBroken(error);
  }
}

/**
 * Ends the connection of a response in the middle of its body: what was written still goes out, the last
 * chunk never does, and every client sees a broken transfer. Waits for the headers, without which there is
 * nothing to break off.
 */
export function breakOff(response: ServerResponse): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.headersSent) response.socket?.destroySoon();
  else setImmediate(breakOff, response);
}
