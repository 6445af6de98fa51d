import type { QuotaSpending } from '../quota-ports.ts';
import { openAt, type OpenReservation, type Usage, type WorkName } from './usage.ts';

/** What was taken, as the limits count it. */
export interface Taken {
  messages: number;
  tokens: number;
  costMicros: number;
}

/**
 * What the limits count of a call: input that no cache had, and output, thoughts included. A call that was
 * broken off before the model told its figures counts as what was reserved.
 */
export function takenBy(
  { usage, costMicros, isMessage, isUnreported }: QuotaSpending,
  reserved: Pick<OpenReservation, 'tokens' | 'costMicros'>,
): Taken {
  const messages = isMessage ? 1 : 0;
  if (!usage)
    return isUnreported
      ? { messages, tokens: reserved.tokens, costMicros: reserved.costMicros }
      : { messages, tokens: 0, costMicros: 0 };
  const { promptTokens, cachedTokens, outputTokens, thoughtsTokens } = usage;
  const input = Math.max(0, promptTokens - cachedTokens);
  return { messages, tokens: input + outputTokens + thoughtsTokens, costMicros: costMicros ?? 0 };
}

/** Whether a reservation stands in the document, even one whose time is over. */
export const isReserved = ({ open }: Usage, of: Pick<OpenReservation, 'id' | 'attempt'>): boolean =>
  open.some(({ id, attempt }) => id === of.id && attempt === of.attempt);

/** The document once what was taken stands in the place of the reservation. */
export function usageAfter(
  usage: Usage,
  of: Pick<OpenReservation, 'id' | 'attempt'>,
  { taken, now }: { taken: Taken; now: Date },
): Usage {
  return {
    ...usage,
    messages: usage.messages + taken.messages,
    tokens: usage.tokens + taken.tokens,
    costMicros: usage.costMicros + taken.costMicros,
    open: openAt(usage, now).filter(({ id, attempt }) => id !== of.id || attempt !== of.attempt),
  };
}

/** The document after a piece of work: it costs, and is no message. */
export const usageAfterWork = (
  usage: Usage,
  work: WorkName,
  bill: { tokens: number; costMicros: number; by: string },
): Usage => ({
  ...usage,
  [work]: {
    runs: usage[work].runs + 1,
    tokens: usage[work].tokens + bill.tokens,
    costMicros: usage[work].costMicros + bill.costMicros,
    by: bill.by,
  },
});
