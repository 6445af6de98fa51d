import { selectStrategyName } from '#functions/config/conversation-policy.ts';
import {
  CrashedError,
  passWorkerCrashPoint,
  type CompactionCrashPoint,
} from '#functions/lib/crash-points.ts';
import { stackFrames } from '#functions/lib/failure-reason.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { fallbackDraft, strategies } from '#shared/compaction/draft-snapshot.ts';
import type { OutcomeState } from '#shared/compaction/outcome.ts';
import { stateOfNoFold, planCompaction, type FoldPlan } from '#shared/compaction/plan.ts';
import type { Draft } from '#shared/compaction/work.ts';
import { decodeHistory, type History } from '#shared/conversation/documents/history.ts';
import type { CompactionRecord } from '#shared/conversation/documents/job.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { runSummariser } from './ask-summariser.ts';
import { claimCompaction, type RecordedRequest } from './claim.ts';
import { leaveOutBlocked } from './leave-out-blocked.ts';
import { measureCandidate, type Candidate } from './measure-candidate.ts';
import {
  progressStatusWrite,
  report,
  reportOutcome,
  reportStart,
  reportVerified,
} from './report.ts';
import {
  hookResult,
  hookResultOfSwap,
  runPreCompactHooksOfNoop,
  runPostCompactHooks,
  runPreCompactHooks,
} from './run-hooks.ts';
import {
  AttemptEnded,
  outcomeOfError,
  summariserOfRun,
  withoutSwap,
  toWork,
  type ClaimedRun,
  type Outcome,
  type Run,
} from './run.ts';
import { clearRequest, recordOutcome, settleRequest } from './settle.ts';
import { indexFolded, swap, swapCandidate } from './swap.ts';

type CompactionResult =
  /** `state` is absent where there was nothing to do. */
  | { kind: 'done'; state?: OutcomeState; reason?: string | undefined }
  /** Not now, and nothing was done; `retryAfterMs` where a time is known. The documents remember it. */
  | { kind: 'later'; retryAfterMs?: number; reason: string }
  /** An attempt was in vain, and the request is to be tried again. The documents remember it. */
  | { kind: 'retry'; retryAfterMs: number; reason: string };

/** A longer pause is left to the sweep, which comes every five minutes. */
export const SHORT_PAUSE_MS = 60_000;

/**
 * Runs a compaction. Where the pause before its request is short, waits until it is over and runs the compaction then.
 * Throws the signal's reason while it waits.
 */
export async function runWhenDue(
  dependencies: WorkerDependencies,
  request: { conversationId: string; signal: AbortSignal },
): Promise<CompactionResult> {
  const result = await runCompaction(dependencies, request);
  const pauseMs = result.kind === 'later' ? result.retryAfterMs : undefined;
  if (pauseMs === undefined || pauseMs > SHORT_PAUSE_MS) return result;
  await dependencies.clock.wait(pauseMs, request.signal);
  request.signal.throwIfAborted();
  return runCompaction(dependencies, request);
}

/**
 * Does what the documents of one conversation ask for: claim → plan → draft → measure → swap → report → settle. A strategy checks
 * its own draft; what is measured stands as VERIFYING for users. Never holds up the conversation. Throws
 * StoreUnavailableError when the store is away, the signal's reason where hooks are left to the next delivery, and what is
 * thrown at a crash point; everything else is an outcome.
 */
export async function runCompaction(
  dependencies: WorkerDependencies,
  request: { conversationId: string; signal: AbortSignal },
): Promise<CompactionResult> {
  await passWorkerCrashPoint(dependencies, 'received');
  const claim = await claimCompaction(dependencies, request);
  switch (claim.kind) {
    case 'nothing':
      return { kind: 'done', reason: claim.reason };
    case 'later':
    case 'retry':
      return claim;
    case 'recorded':
      await finishRecorded(dependencies, claim, request.signal);
      return { kind: 'done', reason: 'SETTLED' };
    case 'outcome': {
      const { run, state, reason } = claim;
      if (state === 'NOOP') await runPreCompactHooksOfNoop(run);
      return endRun(run, { outcome: withoutSwap(run.reading.tokens, { state, reason }) });
    }
    case 'claimed':
      return runClaimed(claim.run);
  }
}

async function runClaimed(run: ClaimedRun): Promise<CompactionResult> {
  let ended: EndedAttempt;
  try {
    await passWorkerCrashPoint(run.dependencies, 'claimed');
    await reportStart(run);
    ended = await attempt(run);
  } finally {
    await run.lease.stop();
  }
  return endRun(run, ended);
}

interface EndedAttempt {
  outcome: Outcome;
  /** PostCompact hooks are told of it. Absent where none was made, or a hook ended the attempt. */
  plan?: FoldPlan | undefined;
}

/** The end of a run: record → report → settle. */
async function endRun(run: Run, { outcome, plan }: EndedAttempt): Promise<CompactionResult> {
  const { dependencies } = run;
  const settlement = await recordOutcome(run, outcome);
  await reportOutcome(run, outcome);
  if (plan)
    await runPostCompactHooks({ ...run, signal: run.delivery }, hookResult(run, plan, outcome));
  await passWorkerCrashPoint(dependencies, 'reported');
  const retryAfterMs = await settleRequest(run, outcome, settlement);
  await passWorkerCrashPoint(dependencies, 'settled');
  const { state, reason } = outcome;
  return retryAfterMs === undefined
    ? { kind: 'done', state, reason }
    : { kind: 'retry', retryAfterMs, reason: reason ?? state };
}

/**
 * Ends a run whose worker died behind its outcome: tells of it, perhaps for the second time, and takes the request off.
 * Hooks are told of a swap alone: of another outcome nobody knows what was to be folded.
 */
async function finishRecorded(
  dependencies: WorkerDependencies,
  { reading, request, record }: RecordedRequest,
  signal: AbortSignal,
): Promise<void> {
  const { conversationId } = reading;
  const history = await readSwapped(dependencies, conversationId, record);
  await report({ dependencies, reading, record, strategy: history?.strategy });
  if (history?.state === 'COMPACTED')
    await runPostCompactHooks(
      { dependencies, reading, signal },
      hookResultOfSwap(conversationId, history, record),
    );
  await passWorkerCrashPoint(dependencies, 'reported');
  await clearRequest(dependencies, { conversationId, request, next: { kind: 'ifOver' } });
  await passWorkerCrashPoint(dependencies, 'settled');
}

/** The generation that a recorded attempt has made; undefined: none, or it is gone. */
async function readSwapped(
  { store }: Pick<WorkerDependencies, 'store'>,
  conversationId: string,
  { generation }: CompactionRecord,
): Promise<History | undefined> {
  if (generation === undefined) return undefined;
  const [document] = await store.get([historyPath(conversationId, generation)]);
  return document && decodeHistory(document);
}

/** Plan → draft → measure → swap, a straight line that any step may end. */
async function attempt(claimed: ClaimedRun): Promise<EndedAttempt> {
  let plan: FoldPlan | undefined;
  try {
    if (claimed.request.trigger === 'blocked') return { outcome: await attemptLeaveOut(claimed) };
    const planned = await step(claimed, 'planned', () => planStep(claimed));
    plan = planned.plan;
    const { run } = planned;
    const candidate = await candidateStep(run, plan);
    await reportVerified(run, candidate);
    await indexFolded(run, candidate);
    return { outcome: await swapStep(run, () => swapCandidate(run, candidate)), plan };
  } catch (error) {
    if (!(error instanceof AttemptEnded)) throw error;
    return { outcome: error.outcome, plan };
  }
}

/** Search → swap: the turns that a filter of the model blocks leave the context. */
async function attemptLeaveOut(run: ClaimedRun): Promise<Outcome> {
  const { change, outcome } = await step(run, 'verified', () => leaveOutBlocked(run));
  return swapStep(run, () => swap(run, outcome, () => change));
}

/**
 * One step: what it throws becomes the outcome, which ends the attempt (AttemptEnded). The crash point is passed
 * after the step, failed or not: a crash there is no outcome.
 */
async function step<T>(
  run: ClaimedRun,
  name: CompactionCrashPoint,
  work: () => Promise<T>,
): Promise<T> {
  const { dependencies, reading, signal } = run;
  let result: T;
  try {
    signal.throwIfAborted();
    result = await work();
  } catch (error) {
    if (error instanceof CrashedError) throw error;
    const outcome = outcomeOfError(error, signal, reading.tokens);
    if (outcome.reason === 'INTERNAL')
      dependencies.logger.log('ERROR', 'compaction_defect', {
        conversationId: reading.conversationId,
        step: name,
        error: error instanceof Error ? error.name : typeof error,
        stack: error instanceof Error ? stackFrames(error) : undefined,
      });
    await passWorkerCrashPoint(dependencies, name);
    throw new AttemptEnded(outcome);
  }
  await passWorkerCrashPoint(dependencies, name);
  return result;
}

/**
 * Where no model may be asked, code folds the turns of a context that has this many tokens. Below the hard threshold
 * prompts leave no turn out, and the model may be asked again later. Undefined: code folds nothing.
 */
function tokensToFoldWithoutModel({ reading, request }: Run): number | undefined {
  const { conversation, policy } = reading;
  const { context, profile } = conversation.value;
  // The profile only shortens outputs.
  if (profile === 'gemini-cli') return undefined;
  // What is read again after an erasure is larger than the context; what is left of the snapshot will do.
  if (reading.isReadAgain) return undefined;
  return request.trigger === 'overflow' ? 0 : policy.hardThresholdTokens + context.overheadTokens;
}

/**
 * Plans what is folded and asks the PreCompact hooks. Returns the plan, and the run with the pins and notes of the hooks.
 * Throws AttemptEnded where nothing is folded.
 */
async function planStep(run: ClaimedRun): Promise<{ plan: FoldPlan; run: ClaimedRun }> {
  const { reading, dependencies } = run;
  const plan = planCompaction({
    ...toWork(run),
    summariserWindowTokens: summariserOfRun(run).windowTokens,
    isModelAllowed: run.noModelReason === undefined,
    strategy: selectStrategyName(dependencies.config, reading.conversation.value),
    foldFromTokens: tokensToFoldWithoutModel(run),
  });
  if (plan.kind === 'fold') return { plan, run: await runPreCompactHooks(run, plan) };
  const state = plan.kind === 'noop' ? stateOfNoFold(plan) : 'CONTENT_TRUNCATED';
  if (state !== 'FAILED_ERROR') await runPreCompactHooksOfNoop(run);
  if (plan.kind === 'truncate')
    throw new AttemptEnded(
      withoutSwap(plan.beforeTokens, { state, afterTokens: plan.afterTokens }),
    );
  const reason = plan.reason === 'NO_MODEL' ? run.noModelReason : plan.reason;
  throw new AttemptEnded(withoutSwap(reading.tokens, { state, reason }));
}

/** The next generation as a plan makes it, drafted, checked and measured. */
async function candidateStep(run: ClaimedRun, plan: FoldPlan): Promise<Candidate> {
  logRepairs(run, plan);
  const draft = await step(run, 'summarised', () => draftSnapshot(run, plan));
  return step(run, 'verified', async () => {
    await run.lease.commit(async () => [await progressStatusWrite(run, 'VERIFYING')], {
      step: 'verify',
    });
    await passWorkerCrashPoint(run.dependencies, 'status-written');
    return measureCandidate(run, plan, draft);
  });
}

/** Logs how many repairs of each kind the turns needed, without text. */
function logRepairs({ dependencies, reading }: ClaimedRun, { repairs }: FoldPlan): void {
  if (!repairs) return;
  const { conversationId } = reading;
  dependencies.logger.log('WARNING', 'history_mended', { conversationId, ...repairs });
}

/** The snapshot of what a plan folds, by the conversation's strategy, or by code where no model may be asked. */
async function draftSnapshot(run: ClaimedRun, plan: FoldPlan): Promise<Draft> {
  const work = toWork(run);
  if (run.noModelReason) return fallbackDraft(work, plan);
  const { config } = run.dependencies;
  const strategy = selectStrategyName(config, run.reading.conversation.value);
  return strategies[strategy](work, plan, runSummariser(run));
}

/** Puts what was made into use. The renewals end before it. */
const swapStep = (run: ClaimedRun, apply: () => Promise<Outcome>): Promise<Outcome> =>
  step(run, 'swapped', async () => {
    await run.lease.stop();
    await passWorkerCrashPoint(run.dependencies, 'before-swap');
    run.signal.throwIfAborted();
    return apply();
  });
