import { selectOutputForms } from '#functions/context/next-call.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import type { FoldPlan } from '#shared/compaction/plan.ts';
import { isSoundCount } from '#shared/compaction/swap-decision.ts';
import type { ContextSource } from '#shared/conversation/context/assemble-context.ts';
import { countedContext } from '#shared/conversation/context/meter.ts';
import { PINS_MAX } from '#shared/conversation/context/pins.ts';
import type { Pin } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { AttemptEnded, withoutSwap, type ClaimedRun, summariserOfRun, toWork } from './run.ts';
import {
  decideNextContext,
  estimateCounts,
  nextContext,
  refusedOutcome,
  type NextContext,
  type TokenCounts,
} from '#shared/compaction/next-context.ts';
import type { Draft } from '#shared/compaction/work.ts';

/** The next generation as it would be: everything decided, nothing written. */
export interface Candidate extends Pick<
  History,
  | 'coveredThrough'
  | 'from'
  | 'turnsFolded'
  | 'isPartial'
  | 'boundary'
  | 'strategy'
  | 'snapshotText'
  | 'snapshot'
  | 'snapshotTokens'
  | 'beforeTokens'
  | 'afterTokens'
  | 'model'
  | 'promptVersion'
  | 'report'
> {
  state: 'COMPACTED';
  counted: NonNullable<History['counted']>;
  /** The context that it makes. */
  after: ContextSource;
  /** Folded messages that stay word for word: pins that the swap adds to those of the conversation document. */
  keptPins: readonly Pin[];
}

/**
 * The next generation with a snapshot that was drafted: counts the context as it is and as that would make it, and
 * decides by `decideSwap` whether the one replaces the other. Throws AttemptEnded for a snapshot that is not good
 * enough, StoppedError, and what the store throws.
 */
export async function measureCandidate(
  run: ClaimedRun,
  plan: FoldPlan,
  draft: Draft,
): Promise<Candidate> {
  const { reading, dependencies } = run;
  if (draft.kind !== 'snapshot')
    throw new AttemptEnded(withoutSwap(reading.tokens, refusedOutcome(draft)));
  const boundary = dependencies.randomness.uuid();
  const work = toWork(run);
  const { body, strategy, snapshot, promptVersion } = draft;
  const next = nextContext(work, plan, { body, boundary, memory: reading.memory.after });
  const { prompts, snapshotText, snapshotTokens, pins, context: after } = next;
  const counts = await countTokens(run, prompts);
  const decision = decideNextContext(work, plan, { prompts, counts });
  const beforeTokens = counts.beforeTokens ?? reading.tokens;
  const afterTokens = counts.afterTokens ?? beforeTokens;
  if (!decision.swap) {
    const { state, reason } = decision;
    throw new AttemptEnded(withoutSwap(beforeTokens, { state, reason, afterTokens }));
  }
  return {
    state: 'COMPACTED',
    coveredThrough: plan.coveredThrough,
    from: plan.from,
    turnsFolded: plan.folded.length,
    ...(plan.isPartial && { isPartial: true }),
    boundary,
    snapshotText,
    strategy,
    snapshot,
    snapshotTokens,
    beforeTokens,
    afterTokens,
    // It goes as far as what was read.
    counted: countedContext(after, selectOutputForms(dependencies, reading.conversation.value), {
      source: counts.source,
      seq: reading.turns.at(-1)?.seq ?? reading.coveredThrough.seq,
    }),
    model: strategy === 'fallback' ? '' : (run.bill.model ?? summariserOfRun(run).model),
    promptVersion,
    report: {
      ...draft.report,
      tokensSource: counts.source,
      ...(plan.repairs && { repairs: plan.repairs }),
      ...(pins.leftOut.length > 0 && { keptOver: pins.leftOut.slice(-PINS_MAX) }),
    },
    after,
    keptPins: pins.added,
  };
}

/** How long the token counter may take. */
const COUNT_TIMEOUT_MS = 10_000;

/**
 * Tokens of both prompts by the same counter: the model's, or, when it fails for either, the calibrated
 * estimate for both. Throws only when the run was stopped.
 */
async function countTokens(run: ClaimedRun, prompts: NextContext['prompts']): Promise<TokenCounts> {
  const { model, clock, logger } = run.dependencies;
  const { conversationId } = run.reading;
  try {
    const [beforeTokens, afterTokens] = await withDeadline(
      { clock, ms: COUNT_TIMEOUT_MS, signal: run.signal },
      (signal) =>
        Promise.all([
          model.countTokens(prompts.before, signal),
          model.countTokens(prompts.after, signal),
        ]),
    );
    if (isSoundCount(beforeTokens) && isSoundCount(afterTokens))
      return { beforeTokens, afterTokens, source: 'counted' };
  } catch (error) {
    if (run.signal.aborted) throw error;
    logger.log('WARNING', 'compaction_tokens_not_counted', {
      conversationId,
      reason: failureReason(error),
    });
  }
  return estimateCounts(toWork(run), prompts);
}
