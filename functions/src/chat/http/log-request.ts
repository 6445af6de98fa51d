import { AppError } from '#shared/errors.ts';
import type { Logger } from '#shared/ports/ports.ts';
import { stackFrames } from '#functions/lib/stack-frames.ts';

/** Where an unexpected error came from. Its message stays out: it may quote what the user sent. */
function defectFields(error: unknown): { error: string; stack?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  const stack = stackFrames(error);
  return { error: error.name, ...(stack !== '' && { stack }) };
}

/** Names of what lies behind an error, outermost first. */
function causeNames(error: unknown): string {
  const names: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  for (; cause instanceof Error && names.length < 4; cause = cause.cause) names.push(cause.name);
  return names.join(' < ');
}

interface ServedRequest {
  operation: string;
  method: string;
  status: number;
  durationMs: number;
  requestId: string;
  /** Hashed. */
  uidHash?: string | undefined;
  /** What the request ended with, if not with success. */
  error?: unknown;
}

/** One line for every request; errors from 500 on with what is needed to find them. */
export function logRequest(logger: Logger, served: ServedRequest): void {
  const { error, ...fields } = served;
  const isOurs = served.status >= 500;
  logger.log(isOurs ? 'ERROR' : 'INFO', 'request', {
    ...fields,
    ...(error instanceof AppError && {
      reason: error.reason,
      ...(isOurs && { detail: error.message, causes: causeNames(error) }),
    }),
    ...(error !== undefined && !(error instanceof AppError) && defectFields(error)),
  });
}
