import type { Clock, ModelGenerator } from '#shared/ports/ports.ts';
import { createModelHealth } from '#functions/models/model-health.ts';

/**
 * A generator that leaves a model alone which has just said that it cannot (`createModelHealth`). Meanwhile calls
 * throw MODEL_PAUSED with the time left and reach nobody. Counted by model, in this instance.
 */
export function createPausingGenerator(model: ModelGenerator, clock: Pick<Clock, 'now'>) {
  const health = createModelHealth(clock);
  const generate: ModelGenerator['generate'] = async (request, signal) => {
    health.refusePaused(request.model);
    try {
      const response = await model.generate(request, signal);
      health.answered(request.model);
      return response;
    } catch (error) {
      if (!signal.aborted) health.failed(request.model, error);
      throw error;
    }
  };
  return { generate };
}
