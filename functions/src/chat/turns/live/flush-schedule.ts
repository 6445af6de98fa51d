import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { ChunkBuffer } from './chunk-buffer.ts';

/** Frames wait at most this long for their chunk, or until this many bytes of JSON have come together. */
const FLUSH_INTERVAL_MS = 500;
export const FLUSH_BYTES = 1_024;

/** In silence the turn is looked at this often, so that a cancellation elsewhere is noticed in a second. */
const PRODUCED_LOOK_INTERVAL_MS = 800;

/** When the one who writes to a turn writes or looks next; all times in ms since 1970. */
export function createFlushSchedule(
  { clock, config }: Pick<ChatDependencies, 'clock' | 'config'>,
  buffer: Pick<ChunkBuffer, 'pendingBytes'>,
) {
  const nowMs = () => clock.now().getTime();
  const leaseIntervalMs = config.TURN_LEASE_MS / 4;
  let pendingSinceMs: number | undefined;
  let writtenAtMs = nowMs();
  let lookedAtMs = writtenAtMs;
  let notBeforeMs = 0;
  const flushAtMs = () => {
    if (pendingSinceMs === undefined) return Number.POSITIVE_INFINITY;
    return buffer.pendingBytes() >= FLUSH_BYTES ? 0 : pendingSinceMs + FLUSH_INTERVAL_MS;
  };
  return {
    /** A frame waits. */
    waits: () => void (pendingSinceMs ??= nowMs()),
    /** What waits, waits no longer. */
    hurries: () => void (pendingSinceMs = nowMs() - FLUSH_INTERVAL_MS),
    /** A write (of frames, or of the lease alone) or a look, and how long to wait for it. */
    next: () => {
      const writeAtMs = Math.min(flushAtMs(), writtenAtMs + leaseIntervalMs);
      const lookAtMs = lookedAtMs + PRODUCED_LOOK_INTERVAL_MS;
      const isWrite = writeAtMs <= lookAtMs;
      const atMs = Math.max(notBeforeMs, Math.min(writeAtMs, lookAtMs));
      return { isWrite, inMs: atMs - nowMs() };
    },
    written: () => {
      writtenAtMs = lookedAtMs = nowMs();
      pendingSinceMs = buffer.pendingBytes() > 0 ? writtenAtMs : undefined;
    },
    looked: () => void (lookedAtMs = nowMs()),
    /** A store that is down is not asked again at once. */
    failed: () => void (notBeforeMs = nowMs() + FLUSH_INTERVAL_MS),
  };
}
