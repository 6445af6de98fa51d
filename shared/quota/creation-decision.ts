import { dayRefusal, type QuotaRefusal } from './reserve-decision.ts';
import type { QuotaLimits } from './limits.ts';
import type { Usage } from './usage.ts';

/** Turns of a fork that count as one thing made: each is a copy of some documents. */
const TURNS_PER_CREATION = 100;

/** As how many things a fork of so many turns counts. */
export const creationsOfFork = (turns: number): number =>
  Math.max(1, Math.ceil(turns / TURNS_PER_CREATION));

type CreationDecision =
  { kind: 'counted'; usage: Usage } | { kind: 'refused'; refusal: QuotaRefusal };

/** Whether a user may make so much more on a day, and what their document of the day becomes then. */
export function decideCreation(
  usage: Usage,
  wanted: number,
  input: { limits: QuotaLimits; now: Date },
): CreationDecision {
  const creations = { name: 'creationsPerDay', used: usage.created, reserved: 0, wanted } as const;
  const refusal = dayRefusal(creations, input);
  return refusal
    ? { kind: 'refused', refusal }
    : { kind: 'counted', usage: { ...usage, created: usage.created + wanted } };
}
