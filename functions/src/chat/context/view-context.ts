import { outcomeMessage } from '../../../../shared/compaction/outcome-message.ts';
import type { ContextMeter, Head } from '../../../../shared/conversation/head.ts';
import type { CompactionJob } from '../../../../shared/conversation/job.ts';
import { contextObject, type ContextObject } from '../../../../shared/wire/context-object.ts';
import { policyOf } from '../../conversation-policy.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** The context object of a conversation as its owner sees it now. */
export function viewContext(
  dependencies: Pick<ChatDependencies, 'config' | 'clock'>,
  view: {
    head: Head;
    tokens: number;
    tokensSource: ContextMeter['source'];
    job: CompactionJob | undefined;
    locale: string | undefined;
  },
): ContextObject {
  const policy = policyOf(dependencies.config, view.head);
  return contextObject({
    head: view.head,
    tokens: view.tokens,
    tokensSource: view.tokensSource,
    thresholdTokens: policy.softThresholdTokens,
    windowTokens: policy.windowTokens,
    job: view.job,
    now: dependencies.clock.now(),
    message: (record) => outcomeMessage(record, view.locale),
  });
}
