import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { ClosingTurn } from '#shared/conversation/writes/abandoned-turns.ts';
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

type TurnTold = Pick<Turn, 'seq' | 'attempt' | 'replaces'>;

/** A turn that has ended, as far as its event tells of it. */
export type EndedTurn = TurnTold & Pick<TurnFinished, 'state' | 'reason'>;

type WaitingTurn = TurnTold & Pick<TurnWaiting, 'round'>;

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

const eventOf = (
  conversationId: string,
  { seq, attempt, replaces }: TurnTold,
  isAttended: boolean,
) => ({
  conversationId,
  turnId: turnId(seq),
  attempt,
  kind: replaces === undefined ? ('message' as const) : ('replacement' as const),
  isAttended,
});

/**
 * Tells the events topic that a turn has ended, where the deployment has somebody to be told. One publish: an
 * event that is lost costs a notification, and the answer is stored all the same. Never throws.
 */
export function publishTurnFinished(
  telling: Telling,
  conversationId: string,
  { turn, isAttended }: { turn: EndedTurn; isAttended: boolean },
): Promise<void> {
  const { state, reason } = turn;
  const event = eventOf(conversationId, turn, isAttended);
  return tell(telling, turnFinishedEvent({ ...event, state, ...(reason && { reason }) }));
}

/** Tells it that a turn waits for the app; the same holds. */
export const publishTurnWaiting = (
  telling: Telling,
  conversationId: string,
  { turn, isAttended }: { turn: WaitingTurn; isAttended: boolean },
): Promise<void> =>
  tell(
    telling,
    turnWaitingEvent({ ...eventOf(conversationId, turn, isAttended), round: turn.round }),
  );

/** The turn as it is closed with no producer to tell of it: its user stopped it, or nobody answers it any more. */
export const endedBy = (turn: TurnTold, { end }: Pick<ClosingTurn, 'end'>): EndedTurn => ({
  ...turn,
  state: end.state,
  reason: end.state === 'failed' ? end.error.reason : undefined,
});
