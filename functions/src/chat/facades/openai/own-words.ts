import { AppError } from '#shared/errors.ts';

/** What is told of an error to a client that has other names for fields. */
interface Told {
  /** As the client's request has it. */
  field: string;
  publicMessage: string;
}

/** Runs `work`; an error of it is told as `tell` has it, or as it is where `tell` gives nothing. */
export async function inOwnWords<Result>(
  tell: (error: AppError) => Told | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const told = error instanceof AppError ? tell(error) : undefined;
    if (!(error instanceof AppError) || !told) throw error;
    throw new AppError({
      status: error.status,
      reason: error.reason,
      message: error.message,
      publicMessage: told.publicMessage,
      retryable: error.retryable,
      ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
      metadata: { ...error.metadata, field: told.field },
      ...(error.httpStatus !== undefined && { httpStatus: error.httpStatus }),
      cause: error,
    });
  }
}
