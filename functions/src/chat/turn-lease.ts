import type { ChatDependencies } from './chat-dependencies.ts';

/** Until when a turn is its producer's, or that of who waits with it, unless the lease is renewed. */
export const leaseFrom = (
  { clock, config }: Pick<ChatDependencies, 'clock' | 'config'>,
  now = clock.now(),
): Date => new Date(now.getTime() + config.TURN_LEASE_MS);
