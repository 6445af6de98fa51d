import type { CompactionRequests, Trigger } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { JobBrake, Pause, Spent } from '#shared/conversation/documents/job.ts';
import { policyConstants } from './constants.ts';
import { hasFailed, isUnpaid, type CompactionOutcome } from './outcome.ts';
import type { CompactionPolicy } from './policy.ts';

/*
 * What holds a compaction back. Each brake has a reason, and holds until a time or until the context has a size,
 * whichever comes first. They come of what the conversation's job remembers (a pause, what was spent) and of its last
 * swap. What each does to a request is one table.
 */

// The table

export type BrakeReason = Pause['reason'] | 'SPEND_LIMIT' | SizeBrake['reason'];

/** Holds until `until` or from `fromTokens` on; one that is absent never comes. */
export interface Brake {
  reason: BrakeReason;
  until?: Date | undefined;
  /** Of the whole context. */
  fromTokens?: number | undefined;
}

/** `waits`: the request stays as it is; `ends`: as a NOOP; `withoutModel`: what code alone can do is done. */
export type BrakeEffect = 'passes' | 'waits' | 'ends' | 'withoutModel';

/** Of every request that no person made and that searches for nothing. */
const automatic = (effect: BrakeEffect) => ({
  auto: effect,
  modelSwitch: effect,
  overflow: effect,
});

/** The first line that holds counts. */
const effects: Readonly<Record<BrakeReason, Readonly<Record<Trigger, BrakeEffect>>>> = {
  USER_DAILY_USD: { ...automatic('waits'), blocked: 'waits', manual: 'waits' },
  GLOBAL_BUDGET: { ...automatic('waits'), blocked: 'waits', manual: 'waits' },
  RETRY_LATER: { ...automatic('waits'), blocked: 'waits', manual: 'passes' },
  NO_PROGRESS: { ...automatic('ends'), blocked: 'passes', manual: 'passes' },
  // An overflow passes, although the owner declined: no message would fit any more.
  DECLINED: {
    ...automatic('passes'),
    auto: 'ends',
    blocked: 'passes',
    manual: 'passes',
  },
  NOT_ARMED: { ...automatic('passes'), auto: 'ends', blocked: 'passes', manual: 'passes' },
  // A person's request and a search are nothing without a model.
  SPEND_LIMIT: { ...automatic('withoutModel'), blocked: 'ends', manual: 'ends' },
  BREAKER_OPEN: { ...automatic('withoutModel'), blocked: 'passes', manual: 'passes' },
};

/** Reasons in the order of the table. */
const order = Object.keys(effects);

interface Moment {
  now: Date;
  /** Of the whole context. */
  tokens: number;
}

export const holds = ({ until, fromTokens }: Brake, { now, tokens }: Moment): boolean =>
  (until === undefined || until > now) && (fromTokens === undefined || tokens < fromTokens);

/** What holds a request back, and how; undefined: nothing does, and a model may be asked. */
export function brakeOn(
  brakes: readonly Brake[],
  { trigger, ...moment }: Moment & { trigger: Trigger },
): { brake: Brake; effect: Exclude<BrakeEffect, 'passes'> } | undefined {
  const inOrder = brakes.toSorted((a, b) => order.indexOf(a.reason) - order.indexOf(b.reason));
  for (const brake of inOrder) {
    const effect = effects[brake.reason][trigger];
    if (effect !== 'passes' && holds(brake, moment)) return { brake, effect };
  }
  return undefined;
}

// Not before the context has grown

export interface SizeBrake {
  reason: 'NO_PROGRESS' | 'DECLINED' | 'NOT_ARMED';
  fromTokens: number;
}

type LastSwap = Pick<History, 'generation' | 'afterTokens' | 'isPartial' | 'unproductiveSwaps'>;

type GrowthPolicy = Pick<
  CompactionPolicy,
  'rearmFraction' | 'softThresholdTokens' | 'hardThresholdTokens'
>;

/** By how much a context grows before the next compaction: a share of the threshold, or, without one, of the hard one. */
const growthTokens = ({
  rearmFraction,
  softThresholdTokens,
  hardThresholdTokens,
}: GrowthPolicy): number => rearmFraction * (softThresholdTokens ?? hardThresholdTokens);

/**
 * The brakes on a context until it has grown by `rearmFraction` of the threshold since it was compacted, or since its
 * owner called a compaction off or one saved too little. A partial swap that made progress holds back nothing; after two
 * swaps in a row that made none an overflow is held back as well (`NO_PROGRESS`).
 */
export function sizeBrakes(context: {
  /** Of the present generation. */
  history: LastSwap | undefined;
  declined: CompactionRequests['declined'];
  policy: GrowthPolicy;
}): SizeBrake[] {
  const { history, declined, policy } = context;
  const isStuck = (history?.unproductiveSwaps ?? 0) >= policyConstants.stalledSwaps;
  const brakes: SizeBrake[] = [];
  if (history && (isStuck || history.isPartial !== true))
    brakes.push({
      reason: isStuck ? 'NO_PROGRESS' : 'NOT_ARMED',
      fromTokens: history.afterTokens + growthTokens(policy),
    });
  return [...brakes, ...declinedBrakes(declined, history?.generation ?? 0, policy)];
}

/** What was declined holds for its generation alone. */
const declinedBrakes = (
  declined: CompactionRequests['declined'],
  generation: number,
  policy: GrowthPolicy,
): SizeBrake[] =>
  declined?.generation === generation
    ? [{ reason: 'DECLINED', fromTokens: declined.tokens + growthTokens(policy) }]
    : [];

/**
 * How many swaps in a row have made no progress, one more included: it saved neither the share that an
 * automatic run must save nor as much as lets the next one begin. Both counts by the same counter.
 */
export function unproductiveSwapsAfter(
  history: Pick<History, 'unproductiveSwaps'> | undefined,
  swap: {
    beforeTokens: number;
    afterTokens: number;
    policy: GrowthPolicy & Pick<CompactionPolicy, 'minimumSavingFraction'>;
  },
): number {
  const { beforeTokens, afterTokens, policy } = swap;
  const progressTokens = Math.min(
    policy.minimumSavingFraction * beforeTokens,
    growthTokens(policy),
  );
  if (beforeTokens - afterTokens >= progressTokens) return 0;
  return (history?.unproductiveSwaps ?? 0) + 1;
}

// What one conversation may spend

/** What one conversation may spend on compactions; 0 = no limit. */
export interface SpendAllowance {
  runsPerHour: number;
  dailyTokens: number;
}

interface SpendLimit {
  limit: 'RUNS_PER_HOUR' | 'DAILY_TOKENS';
  until: Date;
}

/** What `COMPACTIONS_PER_HOUR` counts in. */
const HOUR_MS = 60 * 60_000;
/** What `COMPACTION_DAILY_TOKENS` counts in. */
const DAY_MS = 24 * HOUR_MS;

const after = (date: Date, ms: number) => new Date(date.getTime() + ms);

/**
 * The limit that a conversation has reached; undefined: another run may ask a model. An hour and a day begin with
 * their first run. The last run may go beyond the limit. Of two limits the one that lasts longer.
 */
export function reachedSpendLimit(
  spent: Spent | undefined,
  { runsPerHour, dailyTokens }: SpendAllowance,
  now: Date,
): SpendLimit | undefined {
  if (spent === undefined) return undefined;
  const hourEnds = after(spent.hourSince, HOUR_MS);
  const dayEnds = after(spent.daySince, DAY_MS);
  if (dailyTokens > 0 && spent.tokens >= dailyTokens && dayEnds > now && dayEnds >= hourEnds)
    return { limit: 'DAILY_TOKENS', until: dayEnds };
  if (runsPerHour > 0 && spent.runs >= runsPerHour && hourEnds > now)
    return { limit: 'RUNS_PER_HOUR', until: hourEnds };
  return undefined;
}

/** What is spent after a run that asked a model. */
export function spentAfter(spent: Spent | undefined, run: { at: Date; tokens: number }): Spent {
  const { at, tokens } = run;
  const isSameHour = spent !== undefined && after(spent.hourSince, HOUR_MS) > at;
  const isSameDay = spent !== undefined && after(spent.daySince, DAY_MS) > at;
  return {
    ...(isSameHour
      ? { hourSince: spent.hourSince, runs: spent.runs + 1 }
      : { hourSince: at, runs: 1 }),
    ...(isSameDay
      ? { daySince: spent.daySince, tokens: spent.tokens + tokens }
      : { daySince: at, tokens }),
  };
}

/** The brakes that the job remembers. */
export function jobBrakes(
  brake: JobBrake | undefined,
  allowance: SpendAllowance,
  now: Date,
): Brake[] {
  const spendLimit = reachedSpendLimit(brake?.spent, allowance, now);
  return [
    ...(brake?.pause ? [brake.pause] : []),
    ...(spendLimit ? [{ reason: 'SPEND_LIMIT' as const, until: spendLimit.until }] : []),
  ];
}

// What an outcome leaves

/**
 * Whether an outcome is a failure of the model: of an automatic run, and not that the summary saves too little, which is
 * sound. In the profile `gemini-cli` nothing but an inflation counts.
 */
function isFailure(
  { state, reason, trigger }: Pick<CompactionOutcome, 'state' | 'reason' | 'trigger'>,
  { onlyInflationCounts }: Pick<CompactionPolicy, 'onlyInflationCounts'>,
): boolean {
  if (trigger === 'manual' || trigger === 'blocked') return false;
  if (!hasFailed(state) || reason === 'SAVES_TOO_LITTLE') return false;
  return !onlyInflationCounts || state === 'FAILED_INFLATED_TOKEN_COUNT';
}

/**
 * The brake that an outcome leaves in the job, without what was spent. The first line that holds:
 *
 * | The outcome | Failures | Pause |
 * |---|---|---|
 * | nobody could pay | as before | until there may be money |
 * | a model's summary is in use | 0 | none |
 * | the model failed so often in a row as `breakerFailures` says | + 1 | `BREAKER_OPEN`: half an hour, or growth by half |
 * | the breaker is open | as before | as before |
 * | the same request is tried again | + 1 if the model failed | until the next try |
 * | a person's request, or a search, ended otherwise | as before | as before |
 * | anything else | + 1 if the model failed | none |
 */
export function brakeAfter(
  brake: JobBrake,
  outcome: Pick<CompactionOutcome, 'state' | 'reason' | 'trigger'> & {
    /** Code alone did it, so that it says nothing of the model. */
    isWithoutModel: boolean;
  },
  next: {
    /** Until the same request is tried again; undefined: it is settled. */
    retryAfterMs: number | undefined;
    now: Date;
    /** Of the whole context, and the part that no compaction can shrink. */
    tokens: number;
    overheadTokens: number;
    policy: Pick<CompactionPolicy, 'breakerFailures' | 'breakerOpenMs' | 'onlyInflationCounts'>;
  },
): JobBrake {
  const { retryAfterMs, now, policy } = next;
  const { pause, ...unpaused } = brake;
  const retryAt = retryAfterMs === undefined ? undefined : after(now, retryAfterMs);
  if (retryAt && isUnpaid(outcome.reason))
    return { ...brake, pause: { reason: outcome.reason, until: retryAt } };
  if (outcome.state === 'COMPACTED' && !outcome.isWithoutModel) return { ...unpaused, failures: 0 };
  const isModelFailure = !outcome.isWithoutModel && isFailure(outcome, policy);
  const counted = { ...unpaused, failures: brake.failures + (isModelFailure ? 1 : 0) };
  if (isModelFailure && counted.failures >= policy.breakerFailures)
    return { ...counted, pause: openBreaker(next) };
  if (pause?.reason === 'BREAKER_OPEN' && pause.until > now) return { ...counted, pause };
  if (retryAt) return { ...counted, pause: { reason: 'RETRY_LATER', until: retryAt } };
  const isOther = outcome.trigger === 'manual' || outcome.trigger === 'blocked';
  return isOther && pause && pause.until > now ? { ...counted, pause } : counted;
}

/** The count stays after the pause, so that one more failure opens it again at once. */
const openBreaker = (next: {
  now: Date;
  tokens: number;
  overheadTokens: number;
  policy: Pick<CompactionPolicy, 'breakerOpenMs'>;
}): Pause => ({
  reason: 'BREAKER_OPEN',
  until: after(next.now, next.policy.breakerOpenMs),
  fromTokens:
    next.tokens +
    policyConstants.breakerGrowthFraction * Math.max(0, next.tokens - next.overheadTokens),
});
