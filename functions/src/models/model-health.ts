import { AppError } from '#shared/lib/errors.ts';
import type { Clock, ModelGenerator } from '#shared/ports/ports.ts';

/** Pause after a refusal that names no time of its own. */
const PAUSE_MS = 30_000;
/** No pause is longer, whatever a model asks for, ms: quotas come back sooner than some say. */
export const LONGEST_PAUSE_MS = 10 * 60_000;
/** One 503 is an accident. */
const FAILURES_BEFORE_PAUSE = 3;

/** Models whose failures are remembered; conversations may name any, so the one that failed longest ago is forgotten. */
export const MODELS_REMEMBERED_MAX = 100;

interface Health {
  failures: number;
  until: number;
}

const healthy: Health = { failures: 0, until: 0 };

function healthAfter({ failures }: Health, error: AppError, nowMs: number): Health {
  switch (error.reason) {
    case 'MODEL_QUOTA': {
      const pauseMs = Math.min(LONGEST_PAUSE_MS, error.retryAfterMs ?? PAUSE_MS);
      return { failures: 0, until: nowMs + pauseMs };
    }
    case 'MODEL_OVERLOADED':
    case 'MODEL_TIMEOUT':
      return failures + 1 < FAILURES_BEFORE_PAUSE
        ? { failures: failures + 1, until: 0 }
        : { failures: 0, until: nowMs + PAUSE_MS };
    default:
      return healthy;
  }
}

/** How the models that this instance calls have done. */
export interface ModelHealth {
  /** Throws MODEL_PAUSED with the time left while the model is left alone. */
  refusePaused(model: string): void;
  answered(model: string): void;
  /** What says nothing of the model, a pause or a limit in dollars, leaves it as it is. */
  failed(model: string, error: unknown): void;
}

/**
 * Remembers which models are to be left alone because they have just said that they cannot: after a 429 as long as
 * it asks for (30 s where it does not say, 10 min at most), after three failures in a row 30 s.
 */
export function createModelHealth(clock: Pick<Clock, 'now'>): ModelHealth {
  const healths = new Map<string, Health>();
  const nowMs = () => clock.now().getTime();
  return {
    refusePaused: (model) => {
      const leftMs = (healths.get(model)?.until ?? 0) - nowMs();
      if (leftMs > 0)
        throw new AppError({
          status: 'UNAVAILABLE',
          reason: 'MODEL_PAUSED',
          message: `${model} is left alone for ${leftMs} ms more: it refused or failed before`,
          publicMessage: 'The model is at its limit of requests. Try again later.',
          retryAfterMs: leftMs,
        });
    },
    answered: (model) => void healths.delete(model),
    failed: (model, error) => {
      const isOfModel = error instanceof AppError && error.reason.startsWith('MODEL_');
      if (!isOfModel || error.reason === 'MODEL_PAUSED') return;
      const health = healthAfter(healths.get(model) ?? healthy, error, nowMs());
      healths.delete(model);
      if (health === healthy) return;
      healths.set(model, health);
      const [oldest] = healths.keys();
      if (healths.size > MODELS_REMEMBERED_MAX && oldest !== undefined) healths.delete(oldest);
    },
  };
}

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
