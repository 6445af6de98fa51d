import { failureReason } from '#functions/lib/failure-reason.ts';
import {
  turnFinishedEvent,
  turnWaitingEvent,
  type TurnFinished,
  type TurnRested,
  type TurnWaiting,
} from '#shared/notification/published-event.ts';
import type { EventPublisher, Logger } from '#shared/ports/ports.ts';
import type { Config } from '../config.ts';

type Ended = Omit<TurnFinished, 'schemaVersion' | 'type'>;
type Waiting = Omit<TurnWaiting, 'schemaVersion' | 'type' | 'state'>;

interface Telling {
  publisher: EventPublisher;
  logger: Logger;
  config: Config;
}

/** Notifications go out for what nobody was there to see; an event webhook is told of every turn. */
const isListenedTo = (
  { FCM_PROJECT, EVENT_WEBHOOK_URL }: Config,
  { isAttended }: Pick<TurnRested, 'isAttended'>,
) => EVENT_WEBHOOK_URL !== undefined || (FCM_PROJECT !== undefined && !isAttended);

async function tell({ publisher, logger, config }: Telling, event: TurnRested): Promise<void> {
  if (!isListenedTo(config, event)) return;
  const { conversationId, turnId } = event;
  try {
    await publisher.publish({ topic: 'events', data: event });
  } catch (error) {
    const reason = failureReason(error);
    logger.log('WARNING', 'turn_event_not_published', { conversationId, turnId, reason });
  }
}

/**
 * Tells the events topic that a turn has ended, where the deployment has somebody to be told. One publish: an
 * event that is lost costs a notification, and the answer is stored all the same. Never throws.
 */
export const publishTurnFinished = (telling: Telling, ended: Ended): Promise<void> =>
  tell(telling, turnFinishedEvent(ended));

/** Tells it that a turn waits for the app; the same holds. */
export const publishTurnWaiting = (telling: Telling, waiting: Waiting): Promise<void> =>
  tell(telling, turnWaitingEvent(waiting));
