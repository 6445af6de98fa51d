import { AppError } from '#shared/errors.ts';

/** A request that cannot be answered for one of its fields (BAD_FIELD, 400). */
export const badInput = (field: string, publicMessage: string): AppError =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    message: `a response was refused for its ${field}`,
    publicMessage,
    metadata: { field },
  });
