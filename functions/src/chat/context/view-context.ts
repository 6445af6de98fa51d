import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { countLeftOut } from '#functions/context/left-out.ts';
import { selectOutputForms } from '#functions/context/output-forms.ts';
import { contextTexts } from '#shared/compaction/outcome-message.ts';
import { automaticThreshold } from '#shared/compaction/trigger.ts';
import { contextTokens, type MeteredTurn } from '#shared/conversation/context/meter.ts';
import type { ContextMeter, Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import { contextObject, type ContextObject } from '#shared/wire/resources/context-object.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** A conversation's context as it stands, from one generation. */
interface ContextNow {
  conversation: Conversation;
  history: History | undefined;
  /** The terminal turns of the tail. */
  turns: readonly MeteredTurn[];
}

/** The context object of a conversation as its owner sees it now. */
export function viewContext(
  dependencies: Pick<ChatDependencies, 'config' | 'clock' | 'sha256'>,
  view: ContextNow & {
    /** Default: what the context weighs. */
    meter?: Pick<ContextMeter, 'tokens' | 'source'> | undefined;
    job: CompactionJob | undefined;
    locale: string | undefined;
  },
): ContextObject {
  const { conversation, job, locale } = view;
  const policy = conversationPolicy(dependencies.config, conversation);
  const { tokens, source } =
    view.meter ?? contextTokens(view, selectOutputForms(dependencies, conversation));
  const leftOut = { ...view, coveredThrough: conversation.coveredThrough, tokens };
  return contextObject({
    conversation,
    tokens,
    tokensSource: source,
    thresholdTokens: automaticThreshold(policy, conversation),
    windowTokens: policy.windowTokens,
    job,
    now: dependencies.clock.now(),
    shrinkage: countLeftOut(dependencies, conversation, leftOut),
    texts: contextTexts(locale),
  });
}
