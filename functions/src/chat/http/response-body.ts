import { ABORT_REASON } from '#functions/lib/abortable.ts';

/** A text that is made while it is sent. */
export interface SentText {
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
