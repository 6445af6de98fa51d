import type { EventEmitter } from 'node:events';

/** What of `process` is used here. */
interface EndingProcess extends Pick<EventEmitter, 'on' | 'removeListener'> {
  exit(code: number): void;
}

/**
 * Ends the process on SIGTERM, after `drain`; a second signal changes nothing. The framework would answer
 * 500 to the request that it served last and exit at once, so whoever else listens to the signal is taken
 * off as soon as it is put on.
 */
export function endOnSignal(process: EndingProcess, drain: () => Promise<void>): void {
  let isEnding = false;
  const end = () => {
    if (isEnding) return;
    isEnding = true;
    const exit = () => process.exit(0);
    drain().then(exit, exit);
  };
  process.on('SIGTERM', end);
  process.on('newListener', (event, listener) => {
    if (event !== 'SIGTERM' || listener === end) return;
    // The listener is added after this event.
    queueMicrotask(() => process.removeListener('SIGTERM', listener));
  });
}
