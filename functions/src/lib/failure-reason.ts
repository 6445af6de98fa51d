import { AppError } from '#shared/errors.ts';

/** Why something failed, for the log: a reason of ours, else the name of the error. Never its words, which may quote content. */
export function failureReason(error: unknown): string {
  if (error instanceof AppError) return error.reason;
  return error instanceof Error ? error.name : typeof error;
}
