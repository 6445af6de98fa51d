import { eraseEvent, requestEvent } from '#shared/compaction/event.ts';
import { REPUBLISH_AFTER_MS } from '#shared/compaction/request-decisions.ts';
import type { CompactionRequests } from '#shared/conversation/documents/conversation.ts';
import type { EventPublisher, Logger, Clock } from '#shared/ports/ports.ts';
import { publishEvent } from './publish-event.ts';

/** What happens to a compaction, as the events topic and the log name it. */
export type CompactionEventType =
  | 'requested'
  | 'started'
  | 'verified'
  | 'swapped'
  | 'skipped'
  | 'failed'
  | 'restored';

/** An event for whoever listens; figures that are not known are absent. Never any text of a conversation. */
interface CompactionEvent {
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

/** Tells the events topic what happens to a compaction, at least once. Never throws. */
export function publishCompactionEvent(
  dependencies: Publishing,
  event: CompactionEvent,
): Promise<void> {
  const { type, conversationId } = event;
  return publishEvent(
    dependencies,
    { schemaVersion: 1, ...event, type: `compaction.${type}` },
    { event: 'compaction_event_not_published', fields: { conversationId, type } },
  );
}

/** Tells that a compaction was asked for, in the log and on the topic. */
async function publishCompactionRequested(
  dependencies: { publisher: EventPublisher; logger: Logger },
  request: Pick<CompactionEvent, 'conversationId' | 'requestId' | 'trigger' | 'beforeTokens'>,
): Promise<void> {
  dependencies.logger.log('INFO', 'compaction_requested', { ...request });
  await publishCompactionEvent(dependencies, { type: 'requested', ...request });
}

interface Publishing {
  publisher: EventPublisher;
  logger: Logger;
}

/**
 * Publishes an event for the workers. What there is to do stands in the documents, and the sweep finds it, so a
 * failure is logged under the name `failure` and changes nothing. Never throws.
 */
async function publishBestEffort(
  { publisher, logger }: Publishing,
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

/** Tells the workers of a request that stands in the conversation document; nobody else is told. Never throws. */
export const publishToWorkers = (
  dependencies: Publishing,
  { conversationId, requestId }: { conversationId: string; requestId: string },
): Promise<void> =>
  publishBestEffort(dependencies, {
    event: requestEvent({ conversationId, requestId }),
    failure: 'compaction_publish_failed',
    conversationId,
  });

/**
 * Tells the workers, and whoever listens, of a compaction request that stands in the conversation document. Never
 * throws.
 */
export async function publishRequest(
  dependencies: Publishing,
  request: Pick<CompactionEvent, 'conversationId' | 'requestId' | 'trigger' | 'beforeTokens'>,
): Promise<void> {
  await Promise.all([
    publishToWorkers(dependencies, request),
    publishCompactionRequested(dependencies, request),
  ]);
}

/**
 * Publishes a request again that waits in the conversation document for longer than a compaction takes: its event was
 * lost, or its worker died. The sweep does it every five minutes; whoever meets such a request does not wait for it.
 * Never throws.
 */
export async function publishOverdue(
  dependencies: Publishing & { clock: Clock },
  conversationId: string,
  requests: CompactionRequests,
): Promise<void> {
  const waiting = requests.manual ?? requests.auto;
  if (!waiting) return;
  const waitedMs = dependencies.clock.now().getTime() - waiting.since.getTime();
  if (waitedMs <= REPUBLISH_AFTER_MS) return;
  await publishToWorkers(dependencies, { conversationId, requestId: waiting.requestId });
}

/** Tells the workers to erase a conversation whose document is marked as erasing. Never throws. */
export const publishErase = (dependencies: Publishing, conversationId: string): Promise<void> =>
  publishBestEffort(dependencies, {
    event: eraseEvent({ conversationId }),
    failure: 'erase_publish_failed',
    conversationId,
  });
