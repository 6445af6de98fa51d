import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** Until when a lease lasts that a producer or a waiter takes, or renews, now. */
export const leaseFrom = (
  { clock, config }: Pick<ChatDependencies, 'clock' | 'config'>,
  now = clock.now(),
): Date => new Date(now.getTime() + config.TURN_LEASE_MS);
