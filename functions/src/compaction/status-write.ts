import { outcomeMessage } from '../../../shared/compaction/outcome-message.ts';
import { isUnpaid } from '../../../shared/compaction/unpaid.ts';
import { statusWrite } from '../../../shared/conversation/status-write.ts';
import type { Write } from '../../../shared/ports.ts';
import {
  contextFigures,
  recordStatus,
  type ContextObject,
} from '../../../shared/wire/context-object.ts';
import { recordOf } from './job-after.ts';
import type { Outcome } from './outcome.ts';
import type { Run } from './run.ts';

/** The context object after a step or an outcome. */
function statusOf(run: Run, outcome: Outcome): ContextObject {
  const { head, policy, tokensSource } = run.reading;
  const status = recordStatus(recordOf(run, outcome), {
    coveredThrough: outcome.coveredThrough ?? head.value.coveredThrough,
    message: outcomeMessage(outcome),
  });
  const compaction = isUnpaid(outcome.reason) ? { ...status, state: 'QUEUED' } : status;
  return contextFigures(
    {
      tokens: outcome.afterTokens,
      tokensSource: outcome.tokensSource ?? tokensSource,
      thresholdTokens: policy.softThresholdTokens,
      windowTokens: policy.windowTokens,
      generation: outcome.generation ?? head.value.generation,
    },
    compaction,
  );
}

/** The write that tells the owner's devices what a step or an outcome changed. */
export function outcomeStatusWrite(run: Run, outcome: Outcome): Promise<Write> {
  const { conversationId } = run.reading;
  return statusWrite(run.dependencies.store, conversationId, { ...statusOf(run, outcome) });
}
