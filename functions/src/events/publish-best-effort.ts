import type { EventPublisher, Logger } from '#shared/ports/ports.ts';

/**
 * Publishes an event for the workers that is only a hint: what there is to do stands in the documents, and
 * the sweep finds it. So a publish that fails is logged as `failure` and nothing else.
 */
export async function publishBestEffort(
  { publisher, logger }: { publisher: EventPublisher; logger: Logger },
  hint: { event: object; failure: string; conversationId: string },
): Promise<void> {
  const { event, failure, conversationId } = hint;
  try {
    await publisher.publish({ topic: 'compaction', data: event });
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    logger.log('WARNING', failure, { conversationId, error: name });
  }
}
