import { noopState, planCompaction } from '#shared/compaction/plan.ts';
import { readFoldingBase } from '#shared/conversation/context/read-again.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { CompactionPreview } from '#shared/wire/resources/compaction.ts';
import {
  conversationPolicy,
  readAgainTokens,
  selectStrategyName,
  selectSummariser,
} from '#functions/config/conversation-policy.ts';
import { selectOutputForms } from '#functions/context/output-forms.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { toContextObject, readContext } from './read-context.ts';

/**
 * What a manual compaction would fold now, by the worker's own plan. Calls no model and writes nothing;
 * what the summary would save is not known before it is made. Throws NOT_FOUND.
 */
export async function previewCompaction(
  dependencies: ChatDependencies,
  target: { caller: Caller; conversationId: string },
): Promise<CompactionPreview> {
  const { config, sha256 } = dependencies;
  const context = await readContext(dependencies, target);
  const conversation = context.conversation.value;
  const policy = conversationPolicy(config, conversation);
  const beforeTokens = toContextObject(dependencies, context, undefined).tokens;
  const { conversationId } = target;
  const forms = selectOutputForms(dependencies, conversation);
  const room = { readAgainTokens: readAgainTokens(config, conversation), forms };
  const base = await readFoldingBase(dependencies, { conversationId, conversation }, room);
  const plan = planCompaction({
    context: { ...conversation, ...(base ?? context) },
    policy,
    trigger: 'manual',
    calibration: conversation.context.calibration,
    summariserWindowTokens: selectSummariser(config, { ...policy, model: conversation.model })
      .windowTokens,
    isModelAllowed: true,
    strategy: selectStrategyName(config, conversation),
    blobName: sha256,
  });
  switch (plan.kind) {
    case 'fold': {
      const { from, upTo, folded } = plan;
      const turnsFolded = folded.length;
      return { dryRun: true, state: 'WOULD_COMPACT', beforeTokens, turnsFolded, from, upTo };
    }
    case 'noop':
      return {
        dryRun: true,
        state: noopState(plan),
        reason: plan.reason,
        beforeTokens,
        turnsFolded: 0,
      };
    case 'truncate':
      throw new Error('a plan that may use the model does not truncate');
  }
}
