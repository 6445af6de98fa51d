import { countLeftOut } from '#functions/context/next-call.ts';
import {
  publishCompactionEvent,
  type CompactionEventType,
} from '#functions/events/publish-request.ts';
import { contextTexts } from '#shared/compaction/outcome-message.ts';
import { isUnpaid, type OutcomeState } from '#shared/compaction/outcome.ts';
import { automaticThreshold } from '#shared/compaction/trigger.ts';
import { statusWrite } from '#shared/conversation/writes/status-write.ts';
import type { Write } from '#shared/ports/ports.ts';
import {
  contextFigures,
  recordStatus,
  type ContextObject,
} from '#shared/wire/resources/context-object.ts';
import type { Candidate } from './draft/candidate.ts';
import { compactionRecord } from './job-after.ts';
import { unchanged, type Outcome } from './attempt-outcome.ts';
import { billedCost, elapsedMs, type Bill, type Run } from './run.ts';

function eventType(state: OutcomeState): CompactionEventType {
  switch (state) {
    case 'COMPACTED':
    case 'CONTENT_TRUNCATED':
      return 'swapped';
    case 'NOOP':
    case 'ABORTED':
    case 'SUPERSEDED':
      return 'skipped';
    case 'FAILED_INFLATED_TOKEN_COUNT':
    case 'FAILED_TOKEN_COUNT_ERROR':
    case 'FAILED_EMPTY_SUMMARY':
    case 'FAILED_VERIFICATION':
    case 'FAILED_ERROR':
      return 'failed';
    case 'QUEUED':
    case 'RUNNING':
    case 'VERIFYING':
      return 'started';
  }
}

function tell(run: Run, type: CompactionEventType, outcome: Outcome): Promise<void> {
  const { reading, request, bill, dependencies } = run;
  const { state, reason, beforeTokens, afterTokens, strategy, turnsArrived } = outcome;
  return publishCompactionEvent(dependencies, {
    type,
    conversationId: reading.conversationId,
    requestId: request.requestId,
    generation: outcome.generation ?? reading.conversation.value.generation,
    state,
    reason,
    trigger: request.trigger,
    beforeTokens,
    afterTokens,
    calls: bill.calls,
    ...billedCost(bill),
    durationMs: elapsedMs(run),
    lagMs: Math.max(0, dependencies.clock.now().getTime() - request.since.getTime()),
    turnsArrived,
    strategy,
    variant: reading.variant,
  });
}

export const reportStart = (run: Run): Promise<void> =>
  tell(run, 'started', unchanged(run.reading.tokens, { state: 'RUNNING' }));

/** Code has found the next generation good; it is not in use yet. */
export async function reportVerified(run: Run, candidate: Candidate): Promise<void> {
  const { beforeTokens, afterTokens, turnsFolded, strategy } = candidate;
  const figures = { beforeTokens, afterTokens, turnsFolded, strategy };
  run.dependencies.logger.log('INFO', 'compaction_verified', {
    conversationId: run.reading.conversationId,
    requestId: run.request.requestId,
    ...figures,
  });
  await tell(run, 'verified', unchanged(beforeTokens, { state: 'VERIFYING', ...figures }));
}

const tokensOf = ({ calls, promptTokens, outputTokens }: Bill) =>
  calls === 0 ? {} : { promptTokens, outputTokens };

/** One log line and one event for every attempt, NOOP and failures included (there before = after). */
export async function reportOutcome(run: Run, outcome: Outcome): Promise<void> {
  const { state, reason, beforeTokens, afterTokens, turnsFolded, model, strategy } = outcome;
  const type = eventType(state);
  run.dependencies.logger.log(type === 'failed' ? 'WARNING' : 'INFO', 'chat_compression', {
    tokens_before: beforeTokens,
    tokens_after: afterTokens,
    status: state,
    trigger: run.request.trigger,
    reason,
    conversationId: run.reading.conversationId,
    requestId: run.request.requestId,
    generation: outcome.generation ?? run.reading.conversation.value.generation,
    turnsFolded,
    turnsArrived: outcome.turnsArrived,
    calls: run.bill.calls,
    ...tokensOf(run.bill),
    ...billedCost(run.bill),
    model,
    strategy,
    variant: run.reading.variant,
    threshold_tokens: run.reading.policy.softThresholdTokens ?? undefined,
    threshold_source: run.reading.policy.thresholdLevel,
    durationMs: elapsedMs(run),
    lagMs: Math.max(0, run.dependencies.clock.now().getTime() - run.request.since.getTime()),
  });
  await tell(run, type, outcome);
}

/** The context object after a step or an outcome. */
function statusOf(run: Run, outcome: Outcome): ContextObject {
  const { conversation, policy, tokens, tokensSource } = run.reading;
  const isSwapped = outcome.generation !== undefined;
  const tokensNow = isSwapped ? outcome.afterTokens : tokens;
  // What is read again is more than the context.
  const context = outcome.after ?? (run.reading.isReadAgain ? undefined : run.reading);
  const texts = contextTexts();
  const status = recordStatus(compactionRecord(run, outcome), {
    coveredThrough: outcome.coveredThrough ?? conversation.value.coveredThrough,
    message: texts.outcome(outcome),
  });
  const compaction = isUnpaid(outcome.reason) ? { ...status, state: 'QUEUED' } : status;
  return contextFigures(
    {
      tokens: tokensNow,
      tokensSource: (isSwapped ? outcome.tokensSource : undefined) ?? tokensSource,
      thresholdTokens: automaticThreshold(policy, conversation.value),
      windowTokens: policy.windowTokens,
      generation: outcome.generation ?? conversation.value.generation,
      shrinkage:
        context &&
        countLeftOut(run.dependencies, conversation.value, { ...context, tokens: tokensNow }),
      texts,
    },
    compaction,
  );
}

/** The write that tells the owner's devices what a step or an outcome changed. */
export function outcomeStatusWrite(run: Run, outcome: Outcome): Promise<Write> {
  const { conversationId } = run.reading;
  return statusWrite(run.dependencies.store, conversationId, { ...statusOf(run, outcome) });
}
