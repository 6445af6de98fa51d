async function* encoded(text: AsyncGenerator<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of text) yield encoder.encode(piece);
}

/**
 * A body that tells at once when its reader has gone, also while the text has nothing to say. A text that
 * throws ends the connection (`onBroken`), not the body: the server would print the error as it is.
 */
export function bodyOf(
  text: (left: AbortSignal) => AsyncGenerator<string>,
  onBroken: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const left = new AbortController();
  const pieces = encoded(text(left.signal));
  const closed = Promise.withResolvers<void>();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await pieces.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onBroken(error);
          await closed.promise;
        }
      },
      cancel: async () => {
        left.abort();
        closed.resolve();
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
