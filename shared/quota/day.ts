/** One day. */
const DAY_MS = 24 * 60 * 60_000;

/** How long what was counted on a day is kept: enough to answer a question about a bill. */
const KEPT_MS = 35 * DAY_MS;

/** Days are those of UTC, whatever the time zone of user and server: `2026-01-02`. */
export const toDay = (now: Date): string => now.toISOString().slice(0, 10);

/** When the day after begins. */
export const nextDay = (now: Date): Date =>
  new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS);

/** When what was counted on this day may go. */
export const usageExpiry = (now: Date): Date => new Date(nextDay(now).getTime() + KEPT_MS);
