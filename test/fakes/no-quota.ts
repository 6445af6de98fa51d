import type { Quota, Reservation } from '#shared/ports/ports.ts';

const nothing: Reservation = {
  renew: () => Promise.resolve(),
  settle: () => Promise.resolve(),
  release: () => Promise.resolve(),
};

/** Nothing is counted and nothing refused. */
export const noQuota: Quota = {
  reserve: () => Promise.resolve(nothing),
  refuse: () => Promise.resolve(),
  refuseSpent: () => Promise.resolve(),
  create: () => Promise.resolve([]),
  openStream: () => () => undefined,
};
