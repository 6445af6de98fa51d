import { AppError, reworded } from '#shared/errors.ts';

/** An error as a client reads it whose protocol has other names for fields. */
interface ClientFieldError {
  /** As the client's request has it. */
  field: string;
  publicMessage: string;
}

/** Runs `work`, and rethrows its AppError under the field of the client's protocol; as it is where `rename` gives nothing. */
export async function withClientFields<Result>(
  rename: (error: AppError) => ClientFieldError | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const renamed = error instanceof AppError ? rename(error) : undefined;
    if (!(error instanceof AppError) || !renamed) throw error;
    throw reworded(error, renamed.publicMessage, { field: renamed.field });
  }
}
