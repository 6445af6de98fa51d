import type { OutcomeState } from '#shared/compaction/decisions/outcome-state.ts';
import {
  publishCompactionEvent,
  type CompactionEventType,
} from '#functions/events/publish-compaction-event.ts';
import type { Candidate } from './draft/candidate.ts';
import { unchanged, type Outcome } from './outcome.ts';
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
  const { reading, need, bill, dependencies } = run;
  const { state, reason, beforeTokens, afterTokens, strategy, turnsArrived } = outcome;
  return publishCompactionEvent(dependencies, {
    type,
    conversationId: reading.conversationId,
    requestId: need.requestId,
    generation: outcome.generation ?? reading.conversation.value.generation,
    state,
    reason,
    trigger: need.trigger,
    beforeTokens,
    afterTokens,
    calls: bill.calls,
    ...billedCost(bill),
    durationMs: elapsedMs(run),
    lagMs: Math.max(0, dependencies.clock.now().getTime() - need.since.getTime()),
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
    requestId: run.need.requestId,
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
    trigger: run.need.trigger,
    reason,
    conversationId: run.reading.conversationId,
    requestId: run.need.requestId,
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
    lagMs: Math.max(0, run.dependencies.clock.now().getTime() - run.need.since.getTime()),
  });
  await tell(run, type, outcome);
}
