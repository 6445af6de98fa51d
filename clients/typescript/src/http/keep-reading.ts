import type { Life } from '../lib/life.ts';
import { type RecapError, offline } from './error.ts';
import type { EventStream } from './requester.ts';

interface KeptStream {
  life: Life;
  /** Nobody reads any more. */
  left: AbortSignal;
  /** Where the next connection goes on; another one is progress. */
  cursor: () => string | undefined;
  /** Reads one connection, of which it tells the stream. Resolves to whether no further one is to be read. */
  read: (hold: (stream: EventStream) => void) => Promise<boolean>;
  /** Why a connection has ended. */
  onProblem?: (error: RecapError) => void;
}

/** Reads a stream over as many connections as it takes. One that brought nothing new is followed by a pause. */
export async function keepReading(kept: KeptStream): Promise<void> {
  const { life, left, cursor, read, onProblem } = kept;
  let stream: EventStream | undefined;
  let isWoken = false;
  let failures = 0;
  // Whoever comes back to the app does not know whether a connection still lives.
  const reopen = (): void => {
    isWoken = true;
    stream?.close();
  };
  const stopWaking = life.onWake(reopen);
  left.addEventListener('abort', reopen);
  const isWanted = (): boolean => !left.aborted && !life.closed.aborted;
  while (isWanted()) {
    const before = cursor();
    isWoken = false;
    const end = await read((held) => (stream = held)).catch(offline);
    if (end === true) break;
    failures = cursor() === before ? failures + 1 : 0;
    if (!isWanted() || isWoken) continue;
    if (end && (end.code !== 0 || failures > 1)) onProblem?.(end);
    if (failures > 0) await life.pauseAfter(end || {}, failures);
  }
  stopWaking();
  left.removeEventListener('abort', reopen);
  stream?.close();
}
