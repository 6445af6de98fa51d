import { AppError } from '#shared/lib/errors.ts';

/** What a model throws that is overloaded; with a time where it says when to come back. */
export const overloaded = (retryAfterMs?: number) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'MODEL_OVERLOADED',
    message: 'the model is overloaded',
    publicMessage: 'The model is overloaded.',
    retryable: true,
    retryAfterMs,
  });

/** What a model throws that is away for 45 s. */
export const modelDown = () => overloaded(45_000);
