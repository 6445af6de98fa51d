import { AppError } from '../../shared/errors.ts';

/** What the model throws that is away for 45 s. */
export const modelDown = () =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'MODEL_OVERLOADED',
    message: 'the model is overloaded',
    publicMessage: 'Try again.',
    retryable: true,
    retryAfterMs: 45_000,
  });
