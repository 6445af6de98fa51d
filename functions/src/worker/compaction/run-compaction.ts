import { selectStrategyName } from '#functions/config/conversation-policy.ts';
import {
  CrashedError,
  passWorkerCrashPoint,
  type CompactionCrashPoint,
} from '#functions/lib/crash-points.ts';
import { stackFrames } from '#functions/lib/failure-reason.ts';
import type { OutcomeState } from '#shared/compaction/outcome.ts';
import { noopState, planCompaction, type FoldPlan, type Plan } from '#shared/compaction/plan.ts';
import { leaveOutBlocked } from './blocked/leave-out-blocked.ts';
import { claimCompaction, type Claim } from './claim.ts';
import { clearRequest } from './clear-request.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';
import type { Verified } from './draft/candidate.ts';
import { foldFromTokens, fallbackStrategy } from './draft/fallback.ts';
import { geminiCliStrategy } from './draft/gemini-cli.ts';
import { ledgerStrategy } from './draft/ledger.ts';
import type { SnapshotStrategy } from './draft/snapshot-strategy.ts';
import { keepLease } from './job-lease.ts';
import { outcomeOfError, unchanged, type Outcome } from './attempt-outcome.ts';
import { reportOutcome, reportStart, reportVerified, outcomeStatusWrite } from './report.ts';
import { runPostCompactHooks, runPreCompactHooks, reportNoop } from './run-hooks.ts';
import { runContext, summariserOfRun, type ClaimedRun, type Run } from './run.ts';
import { settle, type Settlement } from './settle.ts';
import { indexFolded, swap, swapChanged } from './swap/swap.ts';
import { measureDraft, measureTruncation } from './swap/measure-swap.ts';

type CompactionResult =
  /** `state` is absent where there was nothing to do. */
  | { kind: 'done'; state?: OutcomeState; reason?: string | undefined }
  /** Not now, and nothing was done; `retryAfterMs` where a time is known. The documents remember it. */
  | { kind: 'later'; retryAfterMs?: number; reason: string }
  /** An attempt was in vain, and the request is to be tried again. The documents remember it. */
  | { kind: 'retry'; retryAfterMs: number; reason: string };

type Step<T> = { kind: 'next'; value: T } | { kind: 'outcome'; outcome: Outcome };

/** One step: what it throws becomes the outcome. The crash point lies behind it, outside of its reach. */
async function step<T>(
  run: ClaimedRun,
  name: CompactionCrashPoint,
  work: () => Promise<Step<T>>,
): Promise<Step<T>> {
  let result: Step<T>;
  try {
    run.signal.throwIfAborted();
    result = await work();
  } catch (error) {
    if (error instanceof CrashedError) throw error;
    const outcome = outcomeOfError(error, run.signal, run.reading.tokens);
    if (outcome.reason === 'INTERNAL')
      run.dependencies.logger.log('ERROR', 'compaction_defect', {
        conversationId: run.reading.conversationId,
        step: name,
        error: error instanceof Error ? error.name : typeof error,
        stack: error instanceof Error ? stackFrames(error) : undefined,
      });
    result = { kind: 'outcome', outcome };
  }
  await passWorkerCrashPoint(run.dependencies, name);
  return result;
}

/** A plan, and the run that goes on with it: hooks may have pinned something. */
interface Planned {
  plan: Exclude<Plan, { kind: 'noop' }>;
  run: ClaimedRun;
}

async function planStep(run: ClaimedRun): Promise<Step<Planned>> {
  const { reading, dependencies } = run;
  const plan = planCompaction({
    context: runContext(run),
    policy: reading.policy,
    trigger: run.request.trigger,
    calibration: reading.conversation.value.context.calibration,
    summariserWindowTokens: summariserOfRun(run).windowTokens,
    isModelAllowed: run.refusal === undefined,
    strategy: selectStrategyName(dependencies.config, reading.conversation.value),
    foldFromTokens: foldFromTokens(run),
    blobName: dependencies.sha256,
  });
  if (plan.kind === 'noop') {
    if (noopState(plan) === 'NOOP') await reportNoop(run);
    return {
      kind: 'outcome',
      outcome: unchanged(reading.tokens, {
        state: noopState(plan),
        reason: plan.reason === 'BREAKER_OPEN' ? (run.refusal ?? plan.reason) : plan.reason,
      }),
    };
  }
  const prepared = await runPreCompactHooks(run, plan);
  return prepared.kind === 'vetoed'
    ? { kind: 'outcome', outcome: prepared.outcome }
    : { kind: 'next', value: { plan, run: prepared.run } };
}

const stepOf = (verified: Verified) =>
  verified.kind === 'candidate' ? ({ kind: 'next', value: verified.candidate } as const) : verified;

/** That turns were not as a model takes them: how often what, no text. */
function tellRepairs({ dependencies, reading }: ClaimedRun, { repairs }: FoldPlan): void {
  if (!repairs) return;
  const { conversationId } = reading;
  dependencies.logger.log('WARNING', 'history_mended', { conversationId, ...repairs });
}

async function foldSteps(run: ClaimedRun, plan: FoldPlan) {
  tellRepairs(run, plan);
  const drafted = await step(run, 'summarised', async () => ({
    kind: 'next',
    value: await selectStrategy(run).draft(run, plan),
  }));
  if (drafted.kind === 'outcome') return drafted;
  return step(run, 'verified', async () => {
    const verifying = unchanged(run.reading.tokens, { state: 'VERIFYING' });
    await run.lease.commit(async () => [await outcomeStatusWrite(run, verifying)], {
      step: 'verify',
    });
    await passWorkerCrashPoint(run.dependencies, 'status-written');
    return stepOf(await measureDraft(run, plan, drafted.value));
  });
}

/** Puts what was made into use. The renewals end before it. */
const swapStep = (run: ClaimedRun, apply: () => Promise<Outcome>) =>
  step(run, 'swapped', async () => {
    await run.lease.stop();
    await passWorkerCrashPoint(run.dependencies, 'before-swap');
    run.signal.throwIfAborted();
    return { kind: 'next', value: await apply() };
  });

/** Search → swap: what a filter of the model blocks leaves the context. */
async function searchSteps(run: ClaimedRun): Promise<Outcome> {
  const searched = await step(run, 'verified', async () => {
    const result = await leaveOutBlocked(run);
    return result.kind === 'made' ? { kind: 'next', value: result.made } : result;
  });
  if (searched.kind === 'outcome') return searched.outcome;
  const swapped = await swapStep(run, () => swapChanged(run, searched.value));
  return swapped.kind === 'next' ? swapped.value : swapped.outcome;
}

/** Plan → summarise → verify → swap, a straight line that any step may end. */
async function attempt(claimed: ClaimedRun): Promise<{ outcome: Outcome; plan: Plan | undefined }> {
  if (claimed.request.trigger === 'blocked')
    return { outcome: await searchSteps(claimed), plan: undefined };
  const planned = await step(claimed, 'planned', () => planStep(claimed));
  if (planned.kind === 'outcome') return { outcome: planned.outcome, plan: undefined };
  const { plan, run } = planned.value;
  const verified =
    plan.kind === 'fold'
      ? await foldSteps(run, plan)
      : await step(run, 'verified', async () => stepOf(await measureTruncation(run, plan)));
  if (verified.kind === 'outcome') return { outcome: verified.outcome, plan };
  await reportVerified(run, verified.value);
  await indexFolded(run, verified.value);
  const swapped = await swapStep(run, () => swap(run, verified.value));
  return { outcome: swapped.kind === 'next' ? swapped.value : swapped.outcome, plan };
}

function resultOf(settlement: Settlement, outcome: Outcome): CompactionResult {
  const { state, reason } = outcome;
  return settlement.kind === 'retry'
    ? { kind: 'retry', retryAfterMs: settlement.retryAfterMs, reason: reason ?? state }
    : { kind: 'done', state, reason };
}

async function serve(
  run: Run,
  claim: Extract<Claim, { kind: 'claimed' }>,
  signal: AbortSignal,
): Promise<CompactionResult> {
  const { dependencies } = run;
  const controller = new AbortController();
  const lease = keepLease(dependencies, claim.taken, controller);
  const claimed: ClaimedRun = {
    ...run,
    lease,
    signal: AbortSignal.any([signal, controller.signal]),
  };
  try {
    await passWorkerCrashPoint(dependencies, 'claimed');
    await reportStart(run);
    const { outcome, plan } = await attempt(claimed);
    await lease.stop();
    const settlement = await settle(run, outcome, lease);
    await passWorkerCrashPoint(dependencies, 'settled');
    await reportOutcome(run, outcome);
    if (plan) await runPostCompactHooks(claimed, plan, outcome);
    await passWorkerCrashPoint(dependencies, 'reported');
    return resultOf(settlement, outcome);
  } finally {
    await lease.stop();
  }
}

/**
 * Does what the documents of one conversation ask for: claim → plan → summarise → verify → swap →
 * settle. Never holds up the conversation. Throws StoreUnavailableError when the store is away, and
 * what is thrown at a crash point; everything else is an outcome.
 */
export async function runCompaction(
  dependencies: CompactionDependencies,
  request: { conversationId: string; signal: AbortSignal },
): Promise<CompactionResult> {
  const { conversationId, signal } = request;
  await passWorkerCrashPoint(dependencies, 'received');
  const claim = await claimCompaction(dependencies, conversationId);
  switch (claim.kind) {
    case 'nothing':
      return { kind: 'done', reason: claim.reason };
    case 'later':
      return claim;
    case 'settled':
      // An automatic request is settled by a swap alone.
      await clearRequest(dependencies, {
        conversationId,
        request: claim.request,
        looksAgain: true,
      });
      await passWorkerCrashPoint(dependencies, 'settled');
      return { kind: 'done', reason: 'SETTLED' };
    case 'outcome': {
      const { run, state, reason } = claim;
      const outcome = unchanged(run.reading.tokens, { state, reason });
      if (state === 'NOOP') await reportNoop({ ...run, signal });
      const settlement = await settle(run, outcome);
      await passWorkerCrashPoint(dependencies, 'settled');
      await reportOutcome(run, outcome);
      await passWorkerCrashPoint(dependencies, 'reported');
      return resultOf(settlement, outcome);
    }
    case 'claimed':
      return serve(claim.run, claim, signal);
  }
}

/** A longer pause is left to the sweep, which comes every five minutes. */
export const SHORT_PAUSE_MS = 60_000;

/** As `runCompaction`, after a short pause that the request may be in. Throws the signal's reason in the pause. */
export async function runAfterPause(
  dependencies: CompactionDependencies,
  request: { conversationId: string; signal: AbortSignal },
): Promise<CompactionResult> {
  const result = await runCompaction(dependencies, request);
  const pauseMs = result.kind === 'later' ? result.retryAfterMs : undefined;
  if (pauseMs === undefined || pauseMs > SHORT_PAUSE_MS) return result;
  await dependencies.clock.wait(pauseMs, request.signal);
  request.signal.throwIfAborted();
  return runCompaction(dependencies, request);
}

/** The way in which the snapshots of a run's conversation are written. */
function selectStrategy({
  dependencies,
  reading,
  refusal,
}: Pick<Run, 'dependencies' | 'reading' | 'refusal'>): SnapshotStrategy {
  if (refusal) return fallbackStrategy;
  const strategies = { ledger: ledgerStrategy, 'gemini-cli': geminiCliStrategy };
  return strategies[selectStrategyName(dependencies.config, reading.conversation.value)];
}
