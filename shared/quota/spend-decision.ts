/** Millionths of a dollar that one limit of the day is compared with. */
export interface Spending {
  /** 0 = no limit. */
  limitMicros: number;
  /** Settled. */
  usedMicros: number;
  /** Held by calls on their way. */
  heldMicros: number;
  /** What the next call may cost at most. */
  wantedMicros: number;
}

/** `spent`: nothing is left until the day turns; `held`: what others on their way leave is too little. */
export type SpendRefusal = 'spent' | 'held';

/**
 * Whether a call may begin under a limit in dollars. It must fit beside those on their way, so that many at once
 * pass the limit no more than one would. The only one on its way needs no more than that something is left: else a
 * limit below what a call may cost at most would let none begin, though most cost a small part of that.
 */
export function spendRefusal(spending: Spending): SpendRefusal | undefined {
  const { limitMicros, usedMicros, heldMicros, wantedMicros } = spending;
  if (limitMicros === 0) return undefined;
  if (usedMicros >= limitMicros) return 'spent';
  return heldMicros > 0 && usedMicros + heldMicros + wantedMicros > limitMicros
    ? 'held'
    : undefined;
}
