import type { Turn, TurnDocument } from '#shared/conversation/documents/turn.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import {
  turnFinishedEvent,
  turnWaitingEvent,
  type TurnFinished,
  type TurnRested,
  type TurnWaiting,
} from '#shared/notification/published-event.ts';
import type { EventPublisher, Logger } from '#shared/ports/ports.ts';
import type { Config } from '../config.ts';
import { publishEvent } from './publish-event.ts';

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

async function tell(telling: Telling, event: TurnRested): Promise<void> {
  if (!isListenedTo(telling.config, event)) return;
  await publishEvent(telling, event, {
    event: 'turn_event_not_published',
    fields: { conversationId: event.conversationId, turnId: event.turnId },
  });
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

/** A turn that ended with no producer to tell of it: its user stopped it, or nobody answered it any more. */
export type ClosedTurn = Pick<Turn, 'seq' | 'attempt' | 'replaces'> & {
  state: 'cancelled' | 'failed';
};

/** How an abandoned turn, or one that waits for the app, ends when the next one begins or the sweep comes. */
export const closedTurn = ({ value }: TurnDocument): ClosedTurn => {
  const { seq, attempt, replaces, state, cancelRequested } = value;
  const isCancelled = cancelRequested === true || state === 'awaiting_tool';
  return { seq, attempt, replaces, state: isCancelled ? 'cancelled' : 'failed' };
};

/** Tells of the ends of turns that were closed, as `publishTurnFinished` does. */
export async function publishTurnsClosed(
  telling: Telling,
  conversationId: string,
  { closed, isAttended }: { closed: readonly ClosedTurn[]; isAttended: boolean },
): Promise<void> {
  const told = closed.map(({ seq, attempt, state, replaces }) =>
    publishTurnFinished(telling, {
      conversationId,
      turnId: turnId(seq),
      attempt,
      state,
      kind: replaces === undefined ? 'message' : 'replacement',
      ...(state === 'failed' && { reason: 'TURN_ABANDONED' }),
      isAttended,
    }),
  );
  await Promise.all(told);
}
