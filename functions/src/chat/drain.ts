import { settlesWithin } from '../lib/deadline.ts';
import type { ChatDependencies } from './chat-dependencies.ts';

/** Time for a turn that is given up to store its frames and for its readers' connections to end, ms. */
export const GIVE_UP_MS = 1_500;

type Draining = Pick<ChatDependencies, 'liveTurns' | 'clock' | 'config' | 'logger'>;

/** Resolves when no request is served and no turn is answered any more. */
async function idle(
  { liveTurns }: Draining,
  requests: ReadonlySet<Promise<unknown>>,
): Promise<void> {
  while (requests.size > 0 || liveTurns.size > 0)
    await Promise.allSettled([...requests, ...[...liveTurns.values()].map(({ result }) => result)]);
}

/**
 * Ends this instance's work before its process ends: what runs may go on for `drainMs`; turns that run
 * then are given up, so that whoever comes back takes them over at once. Resolves at once when nothing
 * runs, and within `drainMs` and 1.5 s in any case. New sends are refused by the signal `shutdown`, which
 * has to fire first. `requests`: those that are being served.
 */
export async function drainChat(
  dependencies: Draining,
  requests: ReadonlySet<Promise<unknown>>,
  drainMs = dependencies.config.DRAIN_MS,
): Promise<void> {
  const { clock, liveTurns, logger } = dependencies;
  if (await settlesWithin(clock, drainMs, idle(dependencies, requests))) return;
  logger.log('WARNING', 'turns_given_up', { turns: liveTurns.size, requests: requests.size });
  for (const live of liveTurns.values()) live.giveUp();
  await settlesWithin(clock, GIVE_UP_MS, idle(dependencies, requests));
}
