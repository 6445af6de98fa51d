import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import type { CompactionOutcome, OutcomeState } from './outcome.ts';
import type { CompactionPolicy } from './policy.ts';
import { policyConstants } from './policy-constants.ts';

// The breaker: failures in a row

/** Stored per conversation: stops paying for compactions that keep failing. */
export interface Breaker {
  /** Failures in a row. */
  failures: number;
  /** While this lies ahead, no model is called; null = closed. */
  openUntil: Date | null;
  /** Conversation tokens when it opened; absent: not known. */
  openedAtTokens?: number | undefined;
}

type BreakerPolicy = Pick<
  CompactionPolicy,
  'breakerFailures' | 'breakerOpenMs' | 'onlyInflationCounts'
>;

interface BreakerMoment {
  now: Date;
  /** Of the conversation, without overhead. */
  tokens: number;
}

export const closedBreaker: Breaker = Object.freeze({ failures: 0, openUntil: null });

/**
 * Whether an automatic compaction may call the model: closed, or half open: one try after the pause, or once the
 * conversation has grown by half since the breaker opened, when the same failure is less likely and weighs more.
 */
export function isBreakerClosed(breaker: Breaker, { now, tokens }: BreakerMoment): boolean {
  const { openUntil, openedAtTokens } = breaker;
  if (openUntil === null || openUntil.getTime() <= now.getTime()) return true;
  const growth = 1 + policyConstants.breakerGrowthFraction.value;
  return openedAtTokens !== undefined && tokens >= growth * openedAtTokens;
}

/**
 * The breaker after an outcome. COMPACTED closes it, whoever asked. Each failure of an automatic run counts, but none of
 * a manual run or of a search for what is blocked. All other outcomes leave it as it is.
 */
export function breakerAfter(
  breaker: Breaker,
  outcome: Pick<CompactionOutcome, 'state' | 'trigger' | 'reason'>,
  options: BreakerMoment & { policy: BreakerPolicy },
): Breaker {
  if (effects[outcome.state] === 'closes') return closedBreaker;
  const isCounted = outcome.trigger !== 'manual' && outcome.trigger !== 'blocked';
  if (!isCounted || !isFailure(outcome, options.policy)) return breaker;
  return afterFailure(breaker, options);
}

const effects: Readonly<Record<OutcomeState, 'closes' | 'counts' | 'none'>> = {
  COMPACTED: 'closes',
  FAILED_INFLATED_TOKEN_COUNT: 'counts',
  FAILED_TOKEN_COUNT_ERROR: 'counts',
  FAILED_EMPTY_SUMMARY: 'counts',
  FAILED_VERIFICATION: 'counts',
  FAILED_ERROR: 'counts',
  QUEUED: 'none',
  RUNNING: 'none',
  VERIFYING: 'none',
  NOOP: 'none',
  CONTENT_TRUNCATED: 'none',
  ABORTED: 'none',
  SUPERSEDED: 'none',
};

/** A summary that saves too little is sound; and in the profile `gemini-cli` nothing but an inflation counts. */
function isFailure(
  { state, reason }: Pick<CompactionOutcome, 'state' | 'reason'>,
  { onlyInflationCounts }: BreakerPolicy,
): boolean {
  if (effects[state] !== 'counts' || reason === 'SAVES_TOO_LITTLE') return false;
  return !onlyInflationCounts || state === 'FAILED_INFLATED_TOKEN_COUNT';
}

function afterFailure(
  breaker: Breaker,
  options: BreakerMoment & { policy: BreakerPolicy },
): Breaker {
  const { now, tokens, policy } = options;
  const failures = breaker.failures + 1;
  // The count stays after the pause, so the one try of the half-open state opens it again at once.
  return failures < policy.breakerFailures
    ? { failures, openUntil: null }
    : {
        failures,
        openUntil: new Date(now.getTime() + policy.breakerOpenMs),
        openedAtTokens: tokens,
      };
}

// The dollars of the day

/** Why no model may be asked for anybody until the day turns: the limits in dollars that a compaction counts into. */
export type UnpaidReason = 'USER_DAILY_USD' | 'GLOBAL_BUDGET';

export const waitsForBudget = (reason: string | undefined): reason is UnpaidReason =>
  reason === 'USER_DAILY_USD' || reason === 'GLOBAL_BUDGET';

/** Whether a request waits because the dollars of the day were used up when it was served last. */
export function holdsBackForBudget(
  job: Pick<CompactionJob, 'records'> | undefined,
  { requestId }: { requestId: string },
): boolean {
  const last = job?.records.at(-1);
  return last?.requestId === requestId && last.state === 'NOOP' && waitsForBudget(last.reason);
}

// What one conversation may spend

/** What one run that asked a model took. */
export interface SpentRun {
  at: Date;
  /** Prompt and answers, thoughts included. */
  tokens: number;
}

/** What one conversation may spend on compactions; 0 = no limit. */
export interface SpendAllowance {
  runsPerHour: number;
  dailyTokens: number;
}

export interface ReachedSpendLimit {
  limit: 'RUNS_PER_HOUR' | 'DAILY_TOKENS';
  /** When the next run is possible, if none comes in between. */
  retryAfterMs: number;
}

/** Runs of the last 60 minutes count, not those of the hour on the clock. */
const HOUR_MS = 60 * 60_000;

/** Tokens of the last 24 hours count, not those of the day on the clock. */
const DAY_MS = 24 * HOUR_MS;

/**
 * The limit that a conversation has reached with its runs of the last hour and the last 24 hours; undefined:
 * another run may ask a model. It is checked before a run, so the last one may go beyond it. `spent` in the
 * order of time.
 */
export function reachedSpendLimit(
  spent: readonly SpentRun[],
  allowance: SpendAllowance,
  now: Date,
): ReachedSpendLimit | undefined {
  const runs = runsLimit(spent, allowance, now);
  const tokens = tokensLimit(spent, allowance, now);
  if (runs === undefined && tokens === undefined) return undefined;
  return (tokens ?? 0) >= (runs ?? 0)
    ? { limit: 'DAILY_TOKENS', retryAfterMs: tokens ?? 0 }
    : { limit: 'RUNS_PER_HOUR', retryAfterMs: runs ?? 0 };
}

function runsLimit(spent: readonly SpentRun[], { runsPerHour }: SpendAllowance, now: Date) {
  const runs = within(spent, HOUR_MS, now);
  if (runsPerHour === 0 || runs.length < runsPerHour) return undefined;
  return leavesIn(runs[runs.length - runsPerHour], HOUR_MS, now);
}

function tokensLimit(spent: readonly SpentRun[], { dailyTokens }: SpendAllowance, now: Date) {
  const runs = within(spent, DAY_MS, now);
  let tokens = runs.reduce((sum, run) => sum + run.tokens, 0);
  if (dailyTokens === 0 || tokens < dailyTokens) return undefined;
  const enough = runs.find((run) => {
    tokens -= run.tokens;
    return tokens < dailyTokens;
  });
  return leavesIn(enough, DAY_MS, now);
}

const within = (spent: readonly SpentRun[], ms: number, now: Date) =>
  spent.filter(({ at }) => now.getTime() - at.getTime() < ms);

/** Ms until `run` counts no more. */
const leavesIn = (run: SpentRun | undefined, ms: number, now: Date) =>
  Math.max(1, (run?.at.getTime() ?? now.getTime()) + ms - now.getTime());

/** So many runs are remembered one by one: more than a day of the usual limit. */
export const SPENT_RUNS_KEPT = 200;

/**
 * What is remembered after a run: nothing older than a day, and at most `SPENT_RUNS_KEPT` entries; of more
 * the oldest become one, so that no token is forgotten. A run that called no model leaves no entry.
 */
export function spentAfter(
  spent: readonly SpentRun[],
  run: SpentRun & { calls: number },
): SpentRun[] {
  const { at, tokens, calls } = run;
  const kept = within(spent, DAY_MS, at);
  const all = calls > 0 ? [...kept, { at, tokens }] : kept;
  const surplus = all.slice(0, Math.max(0, all.length - SPENT_RUNS_KEPT + 1));
  if (all.length <= SPENT_RUNS_KEPT) return all;
  const last = surplus.at(-1);
  const joined = surplus.reduce((sum, each) => sum + each.tokens, 0);
  return [...(last ? [{ at: last.at, tokens: joined }] : []), ...all.slice(surplus.length)];
}
