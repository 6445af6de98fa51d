import type { UnpaidReason } from '#shared/compaction/outcome.ts';
import type { Clock } from '#shared/ports/ports.ts';
import { hasLimits } from '#shared/quota/limits.ts';
import { spendRefusal } from '#shared/quota/spend-decision.ts';
import { toDay, totalSpentMicros } from '#shared/quota/usage.ts';
import type { Config } from '../config.ts';
import type { Accounting } from './accounting.ts';
import { quotaSettings } from './quota-settings.ts';

/**
 * The limit in dollars of which nothing is left for work of this user; undefined: a call may be tried, which holds
 * what it needs. Throws StoreUnavailableError.
 */
export async function exhaustedBudget(
  {
    config,
    clock,
    accounting,
  }: { config: Config; clock: Pick<Clock, 'now'>; accounting: Accounting },
  ownerUid: string,
): Promise<UnpaidReason | undefined> {
  const settings = quotaSettings(config);
  if (!hasLimits(settings)) return undefined;
  const limitMicros = settings.byTier.signedIn.costMicrosPerDay;
  const usedMicros = totalSpentMicros(await accounting.usage.read(ownerUid, toDay(clock.now())));
  if (spendRefusal({ limitMicros, usedMicros, heldMicros: 0, wantedMicros: 0 }))
    return 'USER_DAILY_USD';
  const isSpent = await accounting.budget.isSpent(settings.globalCostMicrosPerDay);
  return isSpent ? 'GLOBAL_BUDGET' : undefined;
}
