import { usagePath } from '#shared/conversation/documents/paths.ts';
import type { Caller, Clock, DocumentStore } from '#shared/ports/ports.ts';
import { decodeUsage, toDay } from '#shared/quota/usage.ts';
import { usageView } from '#shared/quota/usage-view.ts';
import type { UsageResponse } from '#shared/wire/resources/usage.ts';
import type { Config } from '../config.ts';
import { quotaSettings } from './quota-settings.ts';

/** What a caller has taken and has left; nothing is counted where nothing is limited. */
export async function showUsage(
  dependencies: { store: Pick<DocumentStore, 'get'>; clock: Pick<Clock, 'now'>; config: Config },
  { uid, tier }: Caller,
): Promise<UsageResponse> {
  const { store, clock, config } = dependencies;
  const now = clock.now();
  const [document] = await store.get([usagePath(uid, toDay(now))]);
  const limits = quotaSettings(config).byTier[tier];
  return usageView({ usage: decodeUsage(document), limits, tier, now });
}
