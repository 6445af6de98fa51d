import type { CallerTier } from '../ports/ports.ts';

/** What one user may take; 0 = no limit. */
export interface QuotaLimits {
  messagesPerDay: number;
  /** Uncached input and output, thoughts included. */
  tokensPerDay: number;
  requestsPerMinute: number;
  /** Conversations, forks, devices and notes, as `creationsOfFork` counts them. */
  creationsPerDay: number;
  /** Answers on their way at once, and, on one instance, open streams. */
  streams: number;
  /** Compactions and titles included; millionths of a US dollar. */
  costMicrosPerDay: number;
}

export type LimitName = keyof QuotaLimits;

export interface QuotaSettings {
  byTier: Readonly<Record<CallerTier, QuotaLimits>>;
  /** What all users together may cost in a day; millionths of a US dollar, 0 = no limit. */
  globalCostMicrosPerDay: number;
}

const isLimited = (limits: QuotaLimits): boolean =>
  Object.values(limits).some((limit: number) => limit > 0);

/** Whether anything is limited. */
export const hasLimits = ({ byTier, globalCostMicrosPerDay }: QuotaSettings): boolean =>
  globalCostMicrosPerDay > 0 || Object.values(byTier).some(isLimited);
