import type { Config } from '#functions/config.ts';
import type { QuotaLimits, QuotaSettings } from '#shared/quota/reserve-decision.ts';

/** Micro-dollars of a dollar. */
const MICROS = 1_000_000;

/**
 * Tokens that a reservation holds for the answer, beside those of the prompt. A heuristic: a chat answer has
 * 100 to 1,000 with its thoughts; what is more is settled, and can go beyond the limit by that.
 */
export const RESERVED_ANSWER_TOKENS = 500;

/** How long an answer may take before its reservation is nobody's, ms. */
export const reservationHoldMs = ({
  TURN_TIMEOUT_MS,
  TURN_LEASE_MS,
}: Pick<Config, 'TURN_TIMEOUT_MS' | 'TURN_LEASE_MS'>): number => TURN_TIMEOUT_MS + TURN_LEASE_MS;

const micros = (usd: number) => Math.round(usd * MICROS);

/** The limits that the environment sets. */
export function quotaSettings(config: Config): QuotaSettings {
  const shared: Pick<QuotaLimits, 'streams' | 'costMicrosPerDay'> = {
    streams: config.STREAMS_PER_USER,
    costMicrosPerDay: micros(config.USER_DAILY_USD),
  };
  return {
    byTier: {
      anonymous: {
        ...shared,
        messagesPerDay: config.ANONYMOUS_DAILY_MESSAGES,
        tokensPerDay: config.ANONYMOUS_DAILY_TOKENS,
        requestsPerMinute: config.ANONYMOUS_REQUESTS_PER_MINUTE,
        creationsPerDay: config.ANONYMOUS_DAILY_CREATIONS,
      },
      signedIn: {
        ...shared,
        messagesPerDay: config.USER_DAILY_MESSAGES,
        tokensPerDay: config.USER_DAILY_TOKENS,
        requestsPerMinute: config.USER_REQUESTS_PER_MINUTE,
        creationsPerDay: config.USER_DAILY_CREATIONS,
      },
    },
    globalCostMicrosPerDay: micros(config.GLOBAL_DAILY_USD),
  };
}
