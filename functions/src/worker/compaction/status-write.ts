import { contextTexts } from '#shared/compaction/decisions/outcome-message.ts';
import { automaticThreshold } from '#shared/compaction/trigger/compaction-trigger.ts';
import { waitsForBudget } from '#shared/compaction/trigger/spend-limit.ts';
import { statusWrite } from '#shared/conversation/writes/status-write.ts';
import type { Write } from '#shared/ports/ports.ts';
import {
  contextFigures,
  recordStatus,
  type ContextObject,
} from '#shared/wire/resources/context-object.ts';
import { countLeftOut } from '#functions/context/left-out.ts';
import { compactionRecord } from './job-after.ts';
import type { Outcome } from './outcome.ts';
import type { Run } from './run.ts';

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
  const compaction = waitsForBudget(outcome.reason) ? { ...status, state: 'QUEUED' } : status;
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
