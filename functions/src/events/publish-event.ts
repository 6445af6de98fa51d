import { failureReason } from '#functions/lib/failure-reason.ts';
import type { EventType } from '#shared/notification/published-event.ts';
import type { EventPublisher, LogFields, Logger } from '#shared/ports/ports.ts';

/**
 * Tells the events topic what has happened: ids, states and figures, never a word that was said. Nobody waits for an
 * event, so its failure is logged, as `failure`, and changes nothing. Never throws.
 */
export async function publishEvent(
  { publisher, logger }: { publisher: EventPublisher; logger: Logger },
  event: { schemaVersion: 1; type: EventType; conversationId: string },
  failure: { event: string; fields: LogFields },
): Promise<void> {
  try {
    await publisher.publish({ topic: 'events', data: event });
  } catch (error) {
    const reason = failureReason(error);
    logger.log('WARNING', failure.event, { ...failure.fields, reason });
  }
}
