import { createModelWatch } from '#functions/models/model-watch.ts';
import type { Config } from '#functions/config.ts';
import type { Logger } from '#shared/ports/ports.ts';

/** A day after Gemini 2.5 Pro and Flash were shut down on both platforms. */
const AFTER_SHUTDOWN = new Date('2026-12-02T00:00:00.000Z');

/** The configuration as on a day on which models are retired, and what was warned of. */
export function afterShutdown<T extends Config>(config: T, now: Date = AFTER_SHUTDOWN) {
  const warned: { severity: string; event: string; fields: object }[] = [];
  const logger: Logger = {
    log: (severity, event, fields) => void warned.push({ severity, event, fields }),
  };
  const modelWatch = createModelWatch({ clock: { now: () => now }, logger });
  return { config: { ...config, modelWatch }, warned };
}
