import { failureReason } from '#functions/lib/failure-reason.ts';
import type { Clock, DocumentStore, Logger, StoredDocument } from '#shared/ports/ports.ts';
import type { QuotaSpending } from '#shared/ports/quota-ports.ts';
import type { Wanted } from '#shared/quota/reserve-decision.ts';
import { isReserved, takenBy, usageAfter } from '#shared/quota/settle.ts';
import { decodeUsage } from '#shared/quota/usage.ts';
import type { Budget } from './budget.ts';
import type { OneAtATime } from '../lib/promises.ts';
import { usageWrite, commitUsage } from './commit-usage.ts';

export interface SettleDependencies {
  store: DocumentStore;
  clock: Clock;
  logger: Logger;
  budget: Budget;
  oneAtATime: OneAtATime;
}

/**
 * Puts what was taken in the place of what was reserved, on the day of the reservation. Never throws: what
 * could not be settled is logged, and expires.
 */
export async function settleTurn(
  dependencies: SettleDependencies,
  input: {
    path: string;
    day: string;
    wanted: Wanted;
    /** What the newest call counts as where it reported nothing. */
    estimate: Pick<Wanted, 'tokens' | 'costMicros'>;
  },
  spending: QuotaSpending,
): Promise<void> {
  const { oneAtATime, clock, logger } = dependencies;
  const { path, day, wanted, estimate } = input;
  const taken = takenBy(spending, estimate);
  let wasReserved = false;
  const change = ([document]: readonly (StoredDocument | undefined)[]) => {
    // The figures were of an earlier day, and went with their user.
    if (!document) return [];
    const usage = decodeUsage(document);
    // Its own commit was applied where another try finds the reservation gone. One that a later attempt renewed, or that
    // expired, was not there before.
    if (wasReserved && !isReserved(usage, wanted)) return 'done';
    wasReserved = isReserved(usage, wanted);
    const now = clock.now();
    return [usageWrite({ path, document }, usageAfter(usage, wanted, { taken, now }), now)];
  };
  try {
    await oneAtATime(path, () =>
      commitUsage(dependencies, { paths: [path], day, costMicros: taken.costMicros, change }),
    );
  } catch (error) {
    logger.log('WARNING', 'quota_not_settled', {
      day,
      tokens: taken.tokens,
      reason: failureReason(error),
    });
  }
}
