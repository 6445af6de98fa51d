import { userTime } from '#shared/client-context/local-time.ts';
import {
  emptySnapshot,
  workingItems,
  type Snapshot,
  type SnapshotProfile,
} from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { extractFacts } from '../facts/index/extract-facts.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { inProfile } from './operations/change-profile.ts';
import { toDayKey as dayOf } from '../facts/values/calendar-day.ts';
import { repairConstants } from './repair/repair-constants.ts';
import { fitSnapshot } from './budget/fit-snapshot.ts';
import {
  missingConstraints,
  statedWishes,
  statedWithdrawals,
} from './repair/missing-constraints.ts';
import { toRecalledText } from './prompt/recalled-text.ts';
import { renderWorkingLayer } from './render-snapshot.ts';
import { repairVerbatim } from './repair/repair-verbatim.ts';
import { uniteLists } from './budget/unite-lists.ts';
import { withRequests } from './operations/with-requests.ts';

interface FallbackOptions {
  profile: SnapshotProfile;
  /** What stays in the context beside the snapshot: pins and tail. */
  keptTexts: readonly string[];
  budgetTokens: number;
  counting: TokenCounting;
}

/**
 * A snapshot without a model: what was known, the user's standing wishes, tier-1 facts in the sentences
 * that say them, the first request as the goal where there is none, and the last requests; within the
 * budget but for constraints. Empty only where nothing was known and there are no turns. Linear.
 */
export function fallbackSnapshot(
  previous: Snapshot | undefined,
  turns: readonly Turn[],
  { profile, keptTexts, budgetTokens, counting }: FallbackOptions,
): Snapshot {
  const utterances = readUtterances(turns);
  const facts = extractFacts(utterances);
  const days = new Map(turns.map((turn) => [turn.seq, dayOf(userTime(turn))]));
  const known = previous === undefined ? emptySnapshot(profile) : inProfile(previous, profile);
  const snapshot = withRequests(known, { utterances, turns });
  const snapshotTexts = workingItems(snapshot).map(({ text }) => text);
  const usedTokens = estimateTextTokens(renderWorkingLayer(snapshot), counting);
  const { copiedRepairFraction } = repairConstants;
  const repaired = repairVerbatim({
    snapshot,
    missing: toRecalledText(facts, { snapshotTexts, keptTexts }).missing,
    constraints: missingConstraints(
      { wishes: statedWishes(utterances), withdrawals: statedWithdrawals(utterances) },
      { snapshot, keptTexts },
    ),
    dayOf: (seq) => days.get(seq),
    budgetTokens,
    counting,
    roomTokens: Math.max(copiedRepairFraction.value * budgetTokens, budgetTokens - usedTokens),
  });
  const newestSeq = turns.at(-1)?.seq ?? 0;
  return fitSnapshot(uniteLists(repaired.snapshot, facts, { budgetTokens, counting }), {
    budgetTokens,
    counting,
    newestSeq,
  }).snapshot;
}
