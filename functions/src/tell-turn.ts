import { turnFinishedEvent, type TurnFinished } from '../../shared/notification/told-event.ts';
import type { EventPublisher, Logger } from '../../shared/ports.ts';
import type { Config } from './config.ts';

type Ended = Omit<TurnFinished, 'schemaVersion' | 'type'>;

/** Notifications go out for what nobody was there to see; an event webhook is told of every turn. */
const isListenedTo = (
  { FCM_PROJECT, EVENT_WEBHOOK_URL }: Config,
  { isAttended }: Pick<Ended, 'isAttended'>,
) => EVENT_WEBHOOK_URL !== undefined || (FCM_PROJECT !== undefined && !isAttended);

/**
 * Tells the events topic that a turn has ended, where the deployment has somebody to be told. One publish: an
 * event that is lost costs a notification, and the answer is stored all the same. Never throws.
 */
export async function tellTurnFinished(
  { publisher, logger, config }: { publisher: EventPublisher; logger: Logger; config: Config },
  ended: Ended,
): Promise<void> {
  if (!isListenedTo(config, ended)) return;
  const { conversationId, turnId } = ended;
  try {
    await publisher.publish({ topic: 'events', data: turnFinishedEvent(ended) });
  } catch {
    logger.log('WARNING', 'turn_event_not_published', { conversationId, turnId });
  }
}
