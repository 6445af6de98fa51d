import type { FinishBatch } from '#shared/conversation/writes/turn-writes.ts';
import type { QuotaSpending } from '#shared/ports/quota-ports.ts';

/**
 * What a turn took, as it ended. A failed one is no message, but the tokens that the model reported were
 * used; one that was stopped before the model told any figures was at work all the same (`isAsked`).
 */
export function turnSpending(
  { state, inContext, usage }: Pick<FinishBatch, 'state' | 'inContext' | 'usage'>,
  { isAsked }: { isAsked: boolean },
): QuotaSpending {
  switch (state) {
    case 'failed':
      return { usage, costMicros: usage?.costMicros, isMessage: false };
    case 'cancelled':
      return {
        usage,
        costMicros: usage?.costMicros,
        isMessage: isAsked && (inContext || usage !== undefined),
        isUnreported: isAsked,
      };
    case 'awaiting_tool':
      // The message counts when it is answered; what the model has taken so far was taken.
      return { usage, costMicros: usage?.costMicros, isMessage: false, isUnreported: true };
    case 'done':
      return { usage, costMicros: usage?.costMicros, isMessage: true, isUnreported: true };
  }
}
