import { turnPath } from '../../../shared/conversation/paths.ts';
import { readTurns } from '../../../shared/conversation/read-conversation.ts';
import { isTerminal, type Turn } from '../../../shared/conversation/turn.ts';
import { GuardLostError } from '../../../shared/errors.ts';
import type { ChatDependencies } from './chat-dependencies.ts';

/** An attempt at a turn, as its producer knows it. */
export interface Attempt {
  conversationId: string;
  seq: number;
  attempt: number;
  producer: string;
  /** Update time of the turn document as last seen; guards the next write. */
  turnUpdateTime: string;
}

export const isOwnAttempt = (turn: Pick<Turn, 'attempt' | 'producer'>, own: Attempt) =>
  turn.attempt === own.attempt && turn.producer === own.producer;

export interface LeaseKeeper {
  /** Fires when another instance has taken the turn over. */
  lost: AbortSignal;
  /** Stops renewing; afterwards `attempt.turnUpdateTime` is settled. */
  stop(): Promise<void>;
}

async function renew(dependencies: ChatDependencies, attempt: Attempt): Promise<'kept' | 'lost'> {
  const { store, clock, config } = dependencies;
  const { conversationId, seq } = attempt;
  const leaseUntil = new Date(clock.now().getTime() + config.TURN_LEASE_MS);
  try {
    const [updateTime] = await store.commit([
      {
        op: 'update',
        path: turnPath(conversationId, seq),
        fields: { leaseUntil },
        guard: { updateTime: attempt.turnUpdateTime },
      },
    ]);
    attempt.turnUpdateTime = updateTime ?? attempt.turnUpdateTime;
    return 'kept';
  } catch (error) {
    if (!(error instanceof GuardLostError)) return 'kept'; // the next renewal finds out
    const [turn] = await readTurns(store, conversationId, [seq]);
    if (!turn || !isOwnAttempt(turn.value, attempt) || isTerminal(turn.value.state)) return 'lost';
    attempt.turnUpdateTime = turn.updateTime; // an earlier renewal whose reply was lost
    return 'kept';
  }
}

/**
 * Renews the lease of a running turn every quarter of its length, so that a dead instance is noticed
 * and a slow model is not. Writes of one producer are serialised: stop it before the next one.
 */
export function keepLease(dependencies: ChatDependencies, attempt: Attempt): LeaseKeeper {
  const lost = new AbortController();
  const stopped = new AbortController();
  const loop = async () => {
    while (!stopped.signal.aborted) {
      await dependencies.clock.wait(dependencies.config.TURN_LEASE_MS / 4, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        if ((await renew(dependencies, attempt)) === 'lost') return lost.abort();
      } catch {
        // A read that failed says nothing about the lease; the next round asks again.
      }
    }
  };
  const running = loop();
  return {
    lost: lost.signal,
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
}
