import type { Quota } from '#shared/ports/quota-ports.ts';

/** Nothing is counted and nothing refused. */
export const noQuota: Quota = {
  reserve: () => Promise.resolve(undefined),
  refuseSpent: () => Promise.resolve(),
  create: () => Promise.resolve([]),
  openStream: () => () => undefined,
};
