import { AppError } from '#shared/errors.ts';
import type { Clock, ModelChunk, ModelStreamer } from '#shared/ports/ports.ts';

const PIECES = 5;
/** Shorter than a turn's lease, and long enough for a flush between two pieces. */
const PIECE_MS = 300;

const aborted = () =>
  new AppError({
    status: 'CANCELLED',
    reason: 'ABORTED',
    message: 'the call was aborted',
    publicMessage: 'The call was aborted.',
  });

function piecesOf(text: string): string[] {
  const length = Math.ceil(text.length / PIECES);
  return Array.from({ length: PIECES }, (_, i) => text.slice(i * length, (i + 1) * length));
}

async function* inPieces(
  chunks: AsyncIterable<ModelChunk>,
  clock: Clock,
  signal: AbortSignal,
): AsyncIterable<ModelChunk> {
  for await (const chunk of chunks) {
    const [part] = chunk.parts;
    const pieces = part && 'text' in part && part.text ? piecesOf(part.text) : [];
    if (pieces.length === 0) yield chunk;
    for (const text of pieces) {
      yield { parts: [{ text }] };
      await clock.wait(PIECE_MS, signal);
      if (signal.aborted) throw aborted();
    }
  }
}

/** The same model, which answers in pieces with time between them, so that they are flushed as they come. */
export const slowModel = (model: ModelStreamer, clock: Clock): ModelStreamer => ({
  stream: (request, signal) => inPieces(model.stream(request, signal), clock, signal),
});
