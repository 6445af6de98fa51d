import { shrinkContext, type ShrunkenView } from '../../../../shared/compaction/shrunken-view.ts';
import { assembleContext } from '../../../../shared/conversation/assemble-context.ts';
import type { Head } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import { contextTokens } from '../../../../shared/conversation/meter.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import type { MemoryTexts } from '../../../../shared/memory/render-memory.ts';
import type { Config } from '../../config.ts';
import { meterCounting, policyOf } from '../../conversation-policy.ts';

/** A head with all that its context is made of, from one generation. */
export interface ContextOfHead extends Head {
  history: History | undefined;
  memory?: MemoryTexts;
  turns: readonly Turn[];
}

/**
 * What the next call sends before its new message: the context, shrunk while it is over the hard
 * threshold. The one function behind the call, its overflow check and `/context`.
 */
export function viewOfNextCall(config: Config, context: ContextOfHead): ShrunkenView {
  return shrinkContext({
    items: assembleContext(context),
    tokens: contextTokens({ ...context, head: context }).tokens,
    overheadTokens: context.context.overheadTokens,
    calibration: context.context.calibration,
    policy: policyOf(config, context),
    counting: meterCounting(context),
  });
}
