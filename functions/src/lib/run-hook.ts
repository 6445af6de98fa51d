import { errorOfApp, failureReason } from './failure-reason.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Hook } from '#shared/hooks/webhook.ts';
import type { Clock, Logger } from '#shared/ports/ports.ts';
import { withDeadline } from './deadline.ts';

interface HookRun {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  timeoutMs: number;
  conversationId: string;
  /** Name of the log line of a failure. */
  failedEvent: string;
  /** What is told of a required hook that failed. */
  publicMessage: string;
}

/**
 * Runs one hook within its time. A failure is logged, without what it said, and undefined is returned; of a required
 * hook it is thrown as AppError HOOK_FAILED. Throws the abortion of the signal.
 */
export async function runHook<Event, Answer>(
  run: HookRun,
  hook: Hook<Event, Answer>,
  event: Event,
): Promise<Answer | undefined> {
  const { clock, logger, signal, timeoutMs: ms, conversationId } = run;
  try {
    return await withDeadline({ clock, ms, signal }, (late) => hook.run(event, late));
  } catch (error) {
    if (signal.aborted) throw error;
    logger.log('WARNING', run.failedEvent, {
      conversationId,
      hook: hook.name,
      reason: failureReason(error),
      // Our own words: which webhook, and the status that it answered.
      problem: error instanceof AppError ? error.message : undefined,
      ...errorOfApp(error),
    });
    if (hook.required !== true) return undefined;
    throw new AppError({
      reason: 'HOOK_FAILED',
      message: `the required hook ${hook.name} failed for ${conversationId}`,
      publicMessage: run.publicMessage,
      cause: error,
    });
  }
}

/** What is wrong with the answer of a hook. The message is for the log, names the field and the remedy, and quotes nothing. */
export const hookFault = (message: string): AppError =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'HOOK_FAILED',
    message,
    publicMessage: 'A step of the app failed.',
  });
