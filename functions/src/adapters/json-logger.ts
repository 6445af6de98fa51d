import type { Clock, Logger } from '../../../shared/ports.ts';
import { systemClock } from './system-clock.ts';

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
        options.write(`${JSON.stringify({ ...fields, severity, time, event, message: event })}\n`);
      } catch {
        // A full pipe or an odd field costs the line, not the request.
      }
    },
  };
}

/** Logs to standard output, where the platform collects it. */
export const jsonLogger: Logger = createJsonLogger({
  write: (line) => process.stdout.write(line),
  clock: systemClock,
});
