import { json, userRoute } from '../route.ts';
import type { Config } from '#functions/config.ts';
import { quotaSettings, reservationHoldMs } from '#functions/quota/quota-settings.ts';
import { usagePath } from '#shared/conversation/documents/paths.ts';
import type { Caller, Clock, DocumentStore } from '#shared/ports/ports.ts';
import { countedDays, decodeUsage } from '#shared/quota/usage.ts';
import { usageResponse, usageView, type UsageResponse } from '#shared/wire/resources/usage.ts';

export const usageRoute = userRoute({
  operation: 'getUsage',
  summary:
    'What the caller may take in a day and a minute, has taken, and has left. Days are those of UTC.',
  response: usageResponse,
  handle: async (dependencies, { caller }) => json(await showUsage(dependencies, caller)),
});

/** What a caller has taken and has left. */
export async function showUsage(
  dependencies: { store: Pick<DocumentStore, 'get'>; clock: Pick<Clock, 'now'>; config: Config },
  { uid, tier }: Caller,
): Promise<UsageResponse> {
  const { store, clock, config } = dependencies;
  const now = clock.now();
  const days = countedDays(now, reservationHoldMs(config));
  const [today, before] = await store.get(days.map((day) => usagePath(uid, day)));
  const limits = quotaSettings(config).byTier[tier];
  const figures = { usage: decodeUsage(today), dayBefore: before && decodeUsage(before) };
  return usageView({ ...figures, limits, tier, now });
}
