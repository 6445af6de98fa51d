import type { UnpaidReason } from '#shared/compaction/brakes.ts';
import { usagePath } from '#shared/conversation/documents/paths.ts';
import type { Clock, DocumentStore } from '#shared/ports/ports.ts';
import { hasLimits } from '#shared/quota/limits.ts';
import { spendRefusal } from '#shared/quota/spend-decision.ts';
import { decodeUsage, toDay, totalSpentMicros } from '#shared/quota/usage.ts';
import type { Config } from '../config.ts';
import { shardPaths, sumOfShards } from './budget-shards.ts';
import { quotaSettings } from './quota-settings.ts';

/**
 * The limit in dollars of which nothing is left for work of this user; undefined: a call may be tried, which holds
 * what it needs. Throws StoreUnavailableError.
 */
export async function exhaustedBudget(
  {
    config,
    store,
    clock,
  }: {
    config: Config;
    store: Pick<DocumentStore, 'get'>;
    clock: Pick<Clock, 'now'>;
  },
  ownerUid: string,
): Promise<UnpaidReason | undefined> {
  const settings = quotaSettings(config);
  if (!hasLimits(settings)) return undefined;
  const now = clock.now();
  const { globalCostMicrosPerDay: ofAllMicros, byTier } = settings;
  const day = toDay(now);
  const paths = ofAllMicros > 0 ? shardPaths(day) : [];
  const [document, ...shards] = await store.get([usagePath(ownerUid, day), ...paths]);
  const isSpent = (limitMicros: number, usedMicros: number) =>
    spendRefusal({ limitMicros, usedMicros, heldMicros: 0, wantedMicros: 0 }) !== undefined;
  const usedMicros = totalSpentMicros(decodeUsage(document));
  if (isSpent(byTier.signedIn.costMicrosPerDay, usedMicros)) return 'USER_DAILY_USD';
  return isSpent(ofAllMicros, sumOfShards(shards, now).usedMicros) ? 'GLOBAL_BUDGET' : undefined;
}
