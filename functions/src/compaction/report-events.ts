import type { OutcomeState } from '../../../shared/compaction/outcome-state.ts';
import type { Outcome } from './outcome.ts';
import { elapsedMs, type Run } from './run.ts';

type EventType = 'started' | 'swapped' | 'skipped' | 'failed';

function eventType(state: OutcomeState): EventType {
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

/** Tells the events topic. Nobody waits for it, so its failure is logged and changes nothing. */
async function publish(run: Run, type: EventType, outcome: Outcome): Promise<void> {
  const { publisher, clock, logger } = run.dependencies;
  const { conversationId, head } = run.reading;
  try {
    await publisher.publish({
      topic: 'events',
      data: {
        schemaVersion: 1,
        type: `compaction.${type}`,
        conversationId,
        requestId: run.need.requestId,
        generation: outcome.generation ?? head.value.generation,
        state: outcome.state,
        reason: outcome.reason,
        trigger: run.need.trigger,
        beforeTokens: outcome.beforeTokens,
        afterTokens: outcome.afterTokens,
        calls: run.bill.calls,
        durationMs: elapsedMs(run),
        lagMs: Math.max(0, clock.now().getTime() - run.need.since.getTime()),
      },
    });
  } catch {
    logger.log('WARNING', 'compaction_event_not_published', { conversationId, type });
  }
}

export function reportStart(run: Run): Promise<void> {
  const { tokens } = run.reading;
  return publish(run, 'started', {
    state: 'RUNNING',
    beforeTokens: tokens,
    afterTokens: tokens,
    turnsFolded: 0,
    isRetryable: false,
  });
}

/** One log line and one event for every attempt, NOOP and failures included (there before = after). */
export async function reportOutcome(run: Run, outcome: Outcome): Promise<void> {
  const { state, reason, beforeTokens, afterTokens, turnsFolded, model } = outcome;
  const type = eventType(state);
  run.dependencies.logger.log(type === 'failed' ? 'WARNING' : 'INFO', 'chat_compression', {
    tokens_before: beforeTokens,
    tokens_after: afterTokens,
    status: state,
    trigger: run.need.trigger,
    reason,
    conversationId: run.reading.conversationId,
    requestId: run.need.requestId,
    generation: outcome.generation ?? run.reading.head.value.generation,
    turnsFolded,
    calls: run.bill.calls,
    model,
    durationMs: elapsedMs(run),
  });
  await publish(run, type, outcome);
}
