import { outcomeMessage } from '../../../shared/compaction/outcome.ts';
import { statusWrite } from '../../../shared/conversation/status-write.ts';
import type { DocumentFields, Write } from '../../../shared/ports.ts';
import type { Outcome } from './outcome.ts';
import type { Run } from './run.ts';

type StatusRun = Pick<Run, 'dependencies' | 'reading' | 'need'>;

/** The context object (`shared/wire/context-object.ts`) after a step or an outcome. */
function statusFields(run: StatusRun, outcome: Outcome): DocumentFields {
  const { head, policy } = run.reading;
  const { state, reason, beforeTokens, afterTokens } = outcome;
  const windowTokens = policy.windowTokens;
  return {
    tokens: afterTokens,
    thresholdTokens: policy.softThresholdTokens,
    windowTokens,
    percent: Math.round((1_000 * afterTokens) / windowTokens) / 10,
    source: 'estimated',
    generation: outcome.generation ?? head.value.generation,
    compaction: {
      state,
      jobId: run.need.requestId,
      trigger: run.need.trigger,
      beforeTokens,
      afterTokens,
      coveredThrough: outcome.coveredThrough?.seq ?? head.value.coveredThrough.seq,
      at: run.dependencies.clock.now().toISOString(),
      reason,
      message: outcomeMessage({ state, beforeTokens, afterTokens, reason }),
    },
  };
}

/** The write that tells the owner's devices what a step or an outcome changed. */
export async function outcomeStatusWrite(run: StatusRun, outcome: Outcome): Promise<Write> {
  const { store } = run.dependencies;
  return statusWrite(store, run.reading.conversationId, statusFields(run, outcome));
}
