import { failureReason } from '#functions/lib/failure-reason.ts';
import type { EventPublisher, Logger } from '#shared/ports/ports.ts';

/** What happens to a compaction, as the events topic and the log name it. */
export type CompactionEventType =
  'requested' | 'started' | 'verified' | 'swapped' | 'skipped' | 'failed' | 'restored';

/** An event for whoever listens; figures that are not known are absent. Never any text of a conversation. */
export interface CompactionEvent {
  type: CompactionEventType;
  conversationId: string;
  requestId: string;
  trigger?: string | undefined;
  generation?: number | undefined;
  state?: string | undefined;
  reason?: string | undefined;
  beforeTokens?: number | undefined;
  afterTokens?: number | undefined;
  calls?: number | undefined;
  /** Millionths of a US dollar. */
  costMicros?: number | undefined;
  durationMs?: number | undefined;
  /** From the request to now. */
  lagMs?: number | undefined;
  /** Turns that came while the compaction was under way. */
  turnsArrived?: number | undefined;
  strategy?: string | undefined;
  variant?: string | undefined;
  restoredFrom?: number | undefined;
}

/**
 * Tells the events topic, at least once. Nobody waits for it, so its failure is logged and changes nothing.
 */
export async function publishCompactionEvent(
  { publisher, logger }: { publisher: EventPublisher; logger: Logger },
  event: CompactionEvent,
): Promise<void> {
  const { type, conversationId } = event;
  try {
    await publisher.publish({
      topic: 'events',
      data: { schemaVersion: 1, ...event, type: `compaction.${type}` },
    });
  } catch (error) {
    const reason = failureReason(error);
    logger.log('WARNING', 'compaction_event_not_published', { conversationId, type, reason });
  }
}

/** Tells that a compaction was asked for, in the log and on the topic. */
export async function publishCompactionRequested(
  dependencies: { publisher: EventPublisher; logger: Logger },
  request: Pick<CompactionEvent, 'conversationId' | 'requestId' | 'trigger' | 'beforeTokens'>,
): Promise<void> {
  dependencies.logger.log('INFO', 'compaction_requested', { ...request });
  await publishCompactionEvent(dependencies, { type: 'requested', ...request });
}
