import { AppError } from '#shared/errors.ts';
import { asTurnRested, type PublishedEvent } from '#shared/notification/published-event.ts';
import type { NotificationDependencies } from './notification-dependencies.ts';
import { notifyDevices } from './notify-devices.ts';

/** What decides about another delivery: a defect or a failure that may pass, before one that will not. */
const isHopeless = (error: unknown) => error instanceof AppError && !error.retryable;

async function toDevices(
  { notifier, ...dependencies }: NotificationDependencies,
  event: PublishedEvent,
  signal: AbortSignal,
): Promise<void> {
  const rested = asTurnRested(event);
  if (notifier && rested) await notifyDevices({ ...dependencies, notifier }, rested, signal);
}

/**
 * Tells the user's devices and the operator's webhook of an event, side by side. The webhook gets it with the
 * `id` that the bus gave it, the same in every delivery; it may be told more than once, a device is not.
 * Throws what has the event delivered again, or the one failure that there was.
 */
export async function deliverEvent(
  dependencies: NotificationDependencies,
  { event, id }: { event: PublishedEvent; id: string },
  signal: AbortSignal,
): Promise<void> {
  const results = await Promise.allSettled([
    dependencies.eventWebhook?.tell({ ...event, id }, signal),
    toDevices(dependencies, event, signal),
  ]);
  const errors = results.flatMap((result): unknown[] =>
    result.status === 'rejected' ? [result.reason] : [],
  );
  if (errors.length > 0) throw errors.find((error) => !isHopeless(error)) ?? errors[0];
}
