import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import {
  budgetShardPath,
  conversationPath,
  usagePath,
} from '#shared/conversation/documents/paths.ts';
import { sameConversationWrite } from '#shared/conversation/writes/status-write.ts';
import { AppError } from '#shared/errors.ts';
import type {
  Clock,
  DocumentStore,
  Randomness,
  StoredDocument,
  Write,
} from '#shared/ports/ports.ts';
import {
  decodeUsage,
  heldAt,
  type HeldCost,
  nextDay,
  openAt,
  sumOfCosts,
  toDay,
  totalSpentMicros,
} from '#shared/quota/usage.ts';
import type { QuotaSettings } from '#shared/quota/limits.ts';
import { globalBudgetError, workRefusedError } from '#shared/quota/quota-error.ts';
import { OPEN_MAX } from '#shared/quota/reserve-decision.ts';
import { spendRefusal } from '#shared/quota/spend-decision.ts';
import { CALLS_OF_HEADROOM } from './budget.ts';
import { shardPaths, shardWrite, sumOfShards } from './budget-shards.ts';
import { BUDGET_SHARDS } from './quota-settings.ts';
import { usageWrite, writeGuarded } from './commit-usage.ts';

/** For whom a call is, and what it may cost at most. */
interface CallToHold {
  conversationId: string;
  ownerUid: string;
  costMicros: number;
  /** How long it holds that if nobody settles it, ms. */
  holdMs: number;
}

/** Where it is written what a call holds. */
export interface Hold extends HeldCost {
  day: string;
  usagePath: string;
  /** Absent where all users together have no limit. */
  shardPath?: string | undefined;
}

interface HoldDependencies {
  store: Pick<DocumentStore, 'get' | 'commit'>;
  clock: Clock;
  randomness: Randomness;
}

const notLive = (conversationId: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'CONVERSATION_NOT_FOUND',
    message: `${conversationId} is not live: no model is asked for it`,
    publicMessage: 'The conversation is not there any more.',
  });

/** The documents as one read found them. */
interface Found {
  usage: StoredDocument | undefined;
  conversation: StoredDocument | undefined;
  shards: readonly (StoredDocument | undefined)[];
}

/** Throws USER_DAILY_USD, GLOBAL_BUDGET. Returns what all together have spent and hold, millionths. */
function refuseOver(
  { byTier, globalCostMicrosPerDay }: QuotaSettings,
  { usage: document, shards }: Found,
  { wantedMicros, now }: { wantedMicros: number; now: Date },
): number {
  const usage = decodeUsage(document);
  // Dollars are the same for everybody.
  const { costMicrosPerDay: limitMicros } = byTier.signedIn;
  const openMicros = sumOfCosts(openAt(usage, now));
  const held = heldAt(usage.held, now);
  const usedMicros = totalSpentMicros(usage);
  const own = { limitMicros, usedMicros, heldMicros: openMicros + sumOfCosts(held), wantedMicros };
  const ofUser = held.length < OPEN_MAX ? spendRefusal(own) : 'held';
  if (ofUser) throw workRefusedError(ofUser, own, now);
  const sum = sumOfShards(shards, now);
  const heldMicros = sum.heldMicros + openMicros;
  const all = { limitMicros: globalCostMicrosPerDay, ...sum, heldMicros, wantedMicros };
  const kind = spendRefusal(all);
  if (kind)
    throw globalBudgetError({ kind, resetTime: nextDay(now), now, spentMicros: sum.usedMicros });
  return sum.usedMicros + heldMicros;
}

/** The write to the user's document; one that is not there is created below a live conversation alone. */
function usageWrites(
  hold: Hold,
  { usage: document, conversation }: Found,
  { conversationId, now }: { conversationId: string; now: Date },
): Write[] {
  const { id, costMicros, until } = hold;
  const before = decodeUsage(document);
  const held = [...heldAt(before.held, now), { id, costMicros, until }];
  const write = usageWrite({ path: hold.usagePath, document }, { ...before, held }, now);
  if (document) return [write];
  if (!conversation || decodeConversation(conversation).value.state !== 'live')
    throw notLive(conversationId);
  return [write, sameConversationWrite(conversationId, conversation.updateTime)];
}

/**
 * Holds what a call may cost, of its user's dollars and of those of all, before it is made: in one batch under what
 * was read, so that calls of one user never pass a limit together. Near the limit of all, everybody holds in the same
 * shard, so that calls of many users do not either. What is not settled expires. Throws USER_DAILY_USD, GLOBAL_BUDGET,
 * CONVERSATION_NOT_FOUND, GuardLostError, StoreUnavailableError.
 */
export async function holdForCall(
  { store, clock, randomness }: HoldDependencies,
  settings: QuotaSettings,
  call: CallToHold,
): Promise<Hold> {
  const id = randomness.uuid();
  const anyShard = Number.parseInt(id.slice(0, 7), 16) % BUDGET_SHARDS;
  const { costMicros, conversationId } = call;
  const limitMicros = settings.globalCostMicrosPerDay;
  let tried: Hold | undefined;
  return writeGuarded(clock, async () => {
    const now = clock.now();
    const day = toDay(now);
    const path = usagePath(call.ownerUid, day);
    const paths = limitMicros > 0 ? shardPaths(day) : [];
    const [usage, conversation, ...shards] = await store.get([
      path,
      conversationPath(conversationId),
      ...paths,
    ]);
    // The commit before was applied, and its reply was lost.
    if (tried && decodeUsage(usage).held.some((held) => held.id === id)) return tried;
    const found = { usage, conversation, shards };
    const until = new Date(now.getTime() + call.holdMs);
    const hold: Hold = { id, costMicros, until, day, usagePath: path };
    const takenMicros = refuseOver(settings, found, { wantedMicros: costMicros, now });
    const writes = usageWrites(hold, found, { conversationId, now });
    if (limitMicros > 0) {
      const isFar = takenMicros + CALLS_OF_HEADROOM * costMicros < limitMicros;
      const shard = isFar ? anyShard : 0;
      hold.shardPath = budgetShardPath(day, shard);
      const input = { path: hold.shardPath, document: shards[shard] };
      writes.push(shardWrite(input, { hold: { id, costMicros, until } }, now));
    }
    tried = hold;
    await store.commit(writes);
    return hold;
  });
}
