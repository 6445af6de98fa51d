import type { Retirement } from '#shared/models/model-entry.ts';
import type { Clock, Logger } from '#shared/ports/ports.ts';

/** What the table of models needs of the running process: its time, and a log that names each model once. */
export interface ModelWatch {
  now(): Date;
  noteRetired(model: string, retirement: Retirement): void;
  noteUnpriced(model: string): void;
}

/** Names that are kept, so that no client's model ids fill the memory. */
const MOST_NOTED = 1_000;

/** A watch that warns once per model in the life of a process. */
export function createModelWatch({
  clock,
  logger,
}: {
  clock: Pick<Clock, 'now'>;
  logger: Logger;
}): ModelWatch {
  const noted = new Set<string>();
  const warnOnce = (event: string, model: string, fields: object) => {
    const key = `${event} ${model}`;
    if (noted.has(key) || noted.size >= MOST_NOTED) return;
    noted.add(key);
    logger.log('WARNING', event, { model, ...fields });
  };
  return {
    now: () => clock.now(),
    noteRetired: (model, { day, successor }) =>
      warnOnce('model_retired', model, { successor, date: day }),
    noteUnpriced: (model) => warnOnce('model_without_price', model, {}),
  };
}
