import { singleLineJson } from '#shared/lib/json-text.ts';
import type { Clock, Logger } from '#shared/ports/ports.ts';
import { systemClock } from './clocks.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';

/**
 * Logs one JSON line per event in the form that Cloud Logging reads (severity, time, message). A line
 * that cannot be written is lost: logging never throws and never holds a request up.
 */
export function createJsonLogger(options: {
  write: (line: string) => unknown;
  clock: Pick<Clock, 'now'>;
}): Logger {
  return {
    log: (severity, event, fields) => {
      try {
        const time = options.clock.now().toISOString();
        options.write(`${singleLineJson({ ...fields, severity, time, event, message: event })}\n`);
      } catch {
        // A full pipe or an odd field costs the line, not the request.
      }
    },
  };
}

/**
 * Writes the lines of one turn of the event loop together: a write to a pipe holds the process up, and a busy instance
 * has hundreds of lines a second. What waits when the process ends is written then; one that is killed loses it.
 *
 * Written outside the request that logged: within it the framework takes all that is written at once for a single entry,
 * and several lines become one text without severity and event (LOG_EXECUTION_ID, which Cloud Functions sets).
 */
export function writeTogether(
  write: (text: string) => unknown,
  ending: Pick<EventEmitter, 'once'>,
): (line: string) => void {
  const outside = AsyncLocalStorage.snapshot();
  let waiting = '';
  const flush = () => {
    const text = waiting;
    waiting = '';
    try {
      if (text !== '') write(text);
    } catch {
      // A full pipe costs the lines, not the process.
    }
  };
  ending.once('exit', () => outside(flush));
  return (line) => {
    if (waiting === '') setImmediate(outside, flush);
    waiting += line;
  };
}

/** Logs to standard output, where the platform collects it. */
export const jsonLogger: Logger = createJsonLogger({
  write: writeTogether((text) => process.stdout.write(text), process),
  clock: systemClock,
});
