import type { EventEmitter } from 'node:events';
import type { Logger } from '#shared/ports/ports.ts';
import { stackFrames } from '../lib/stack-frames.ts';

const EVENT = 'unhandledRejection';

/**
 * Logs the failure of a promise that nobody waits for, as `stray_rejection` without its message, and lets the process go
 * on: the request that it belongs to has its own way to fail, and the others that the instance serves have no part in it.
 * The framework would end the instance, so whoever else listens is taken off as soon as it is put on. An exception
 * out of a callback is left to the framework: what state it leaves behind nobody knows.
 */
export function logUnhandledRejections(
  process: Pick<EventEmitter, 'on' | 'removeListener'>,
  logger: Logger,
): void {
  const tell = (reason: unknown) =>
    logger.log('ERROR', 'stray_rejection', {
      error: reason instanceof Error ? reason.name : typeof reason,
      stack: reason instanceof Error ? stackFrames(reason) : '',
    });
  process.on(EVENT, tell);
  process.on('newListener', (event, listener) => {
    if (event !== EVENT || listener === tell) return;
    // The listener is added after this event.
    queueMicrotask(() => process.removeListener(EVENT, listener));
  });
}
