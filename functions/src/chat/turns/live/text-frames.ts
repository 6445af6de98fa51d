import type { Clock } from '#shared/ports/ports.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { createDeltaCoalescer } from './delta-coalescer.ts';

/** The text of one answer as the events of a stream: a start, deltas as it comes, and an end. `partId` is its text part. */
export function createTextFrames(
  { emit, partId: id }: { emit: (chunk: StreamChunk) => void; partId: string },
  clock: Clock,
) {
  let isOpen = false;
  const deltas = createDeltaCoalescer({
    clock,
    emit: (delta) => emit({ type: 'text-delta', id, delta }),
  });
  return {
    push: (text: string) => {
      if (!isOpen) emit({ type: 'text-start', id });
      isOpen = true;
      deltas.push(text);
    },
    close: async ({ isCut }: { isCut: boolean }) => {
      await deltas.flush();
      if (isOpen && !isCut) emit({ type: 'text-end', id });
    },
  };
}
