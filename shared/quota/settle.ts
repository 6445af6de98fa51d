import type { ModelUsage } from '../ports/ports.ts';
import type { QuotaSpending } from '../ports/quota-ports.ts';
import { openAt, type OpenReservation, type Usage, type Work, type WorkName } from './usage.ts';

/** What was taken, as the limits count it. */
interface Taken {
  messages: number;
  tokens: number;
  costMicros: number;
}

/** Tokens that the limits count: input that no cache had, what Google's tools gave to read, and output with thoughts. */
export const countedTokens = ({
  promptTokens,
  cachedTokens,
  outputTokens,
  thoughtsTokens,
  toolTokens = 0,
}: ModelUsage): number =>
  Math.max(0, promptTokens - cachedTokens) + toolTokens + outputTokens + thoughtsTokens;

/**
 * What the limits count of calls. One that was broken off before the model told its figures counts as `estimate`, beside
 * what others reported.
 */
export function takenBy(
  { usage, costMicros = 0, isMessage, isUnreported }: QuotaSpending,
  estimate: Pick<OpenReservation, 'tokens' | 'costMicros'>,
): Taken {
  return {
    messages: isMessage ? 1 : 0,
    tokens: (usage ? countedTokens(usage) : 0) + (isUnreported ? estimate.tokens : 0),
    costMicros: costMicros + (isUnreported ? estimate.costMicros : 0),
  };
}

const addWork = (work: Work, more: Work): Work => ({
  runs: work.runs + more.runs,
  tokens: work.tokens + more.tokens,
  costMicros: work.costMicros + more.costMicros,
});

/** The document once what was taken stands in the place of the reservation. */
export function usageAfter(
  usage: Usage,
  openReservation: Pick<OpenReservation, 'id' | 'attempt'>,
  { taken, routing, now }: { taken: Taken; routing?: QuotaSpending['routing']; now: Date },
): Usage {
  return {
    ...usage,
    routing: routing ? addWork(usage.routing, { runs: 1, ...routing }) : usage.routing,
    messages: usage.messages + taken.messages,
    tokens: usage.tokens + taken.tokens,
    costMicros: usage.costMicros + taken.costMicros,
    open: openAt(usage, now).filter(
      ({ id, attempt }) => id !== openReservation.id || attempt !== openReservation.attempt,
    ),
  };
}

/** The document once what a call took that is no message stands in the place of what it held. */
export const usageAfterCall = (
  usage: Usage,
  call: { work: WorkName; isMore: boolean; id: string; tokens: number; costMicros: number },
): Usage => ({
  ...usage,
  [call.work]: addWork(usage[call.work], { ...call, runs: call.isMore ? 0 : 1 }),
  held: usage.held.filter(({ id }) => id !== call.id),
});
