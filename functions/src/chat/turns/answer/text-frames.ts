import { ABORT_REASON } from '#functions/lib/async-iterators.ts';
import type { Clock } from '#shared/ports/ports.ts';
import { cutHead } from '#shared/text/cut.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';

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

/** One frame per this many milliseconds at most; the first goes out at once. */
const DELTA_INTERVAL_MS = 40;

/**
 * UTF-16 units of one frame's delta. Escaped as JSON they take at most six bytes each, so that every frame
 * fits a chunk document of 256 KiB.
 */
const DELTA_MAX_CHARACTERS = 32 * 1024;

const isHighHalf = (code: number) => code >= 0xd8_00 && code <= 0xdb_ff;
const endsInHalfAPair = (text: string) => isHighHalf(text.charCodeAt(text.length - 1));

/**
 * Joins small deltas to frames and cuts very large ones. A delta never ends between the halves of a
 * surrogate pair: a phone that decodes each frame alone would show a replacement character.
 */
export function createDeltaCoalescer(options: {
  clock: Clock;
  emit: (delta: string) => void;
  intervalMs?: number;
}) {
  const intervalMs = options.intervalMs ?? DELTA_INTERVAL_MS;
  let pending = '';
  let lastAtMs = Number.NEGATIVE_INFINITY;
  const flushed = new AbortController();
  let waiting: Promise<void> | undefined;

  const send = (keepHalf: boolean) => {
    const half = keepHalf && endsInHalfAPair(pending) ? pending.slice(-1) : '';
    const delta = half === '' ? pending : pending.slice(0, -1);
    pending = half;
    if (delta === '') return;
    lastAtMs = options.clock.now().getTime();
    for (let rest = delta; rest !== '';) {
      const frame = cutHead(rest, DELTA_MAX_CHARACTERS);
      options.emit(frame);
      rest = rest.slice(frame.length);
    }
  };

  const sendLater = async (ms: number) => {
    await options.clock.wait(ms, flushed.signal);
    waiting = undefined;
    if (!flushed.signal.aborted) send(true);
  };

  return {
    push: (text: string) => {
      pending += text;
      if (waiting) return;
      const dueInMs = lastAtMs + intervalMs - options.clock.now().getTime();
      if (dueInMs <= 0) send(true);
      else waiting = sendLater(dueInMs);
    },
    /** Sends the rest; nothing is pending afterwards, no timer runs, and nothing may be pushed any more. */
    flush: async () => {
      flushed.abort(ABORT_REASON);
      await waiting;
      send(false);
    },
  };
}
