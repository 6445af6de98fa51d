/** The day of a time as an item names it, `2026-11-21`; in UTC. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
