import type { ChatDependencies } from '../chat-dependencies.ts';
import {
  readOwnConversation,
  type OwnConversation,
  type ConversationTarget,
} from '../conversations/own-conversation.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { countLeftOut, selectOutputForms } from '#functions/context/next-call.ts';
import { contextTexts } from '#shared/wire/outcome-message.ts';
import { automaticThreshold } from '#shared/compaction/trigger.ts';
import { contextTokens, type MeteredTurn } from '#shared/conversation/context/meter.ts';
import { readContextParts } from '#shared/conversation/context/read-conversation.ts';
import type { ContextMeter, Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { statusWrite } from '#shared/wire/status-write.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import type { Write } from '#shared/ports/ports.ts';
import { contextObject, type ContextObject } from '#shared/wire/resources/context-object.ts';

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

/** Tells the owner's devices what the context is now; for the batch that changes it. */
export const contextStatusWrite = (
  dependencies: Pick<ChatDependencies, 'store' | 'config' | 'clock' | 'sha256'>,
  conversationId: string,
  view: ContextNow & { job: CompactionJob | undefined },
): Promise<Write> =>
  statusWrite(dependencies.store, conversationId, {
    ...viewContext(dependencies, { ...view, locale: undefined }),
  });

/** A load that finds the generation gone (swapped or erased meanwhile) begins again this often. */
const READ_TRIES = 3;

interface ConversationContext extends OwnConversation {
  history: History | undefined;
  turns: Turn[];
  /** The turn that is being answered, or waits for the app, as far as it is stored. */
  open?: Turn;
}

/** A caller's conversation with all that its context is made of, from one generation. */
export async function readContext(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'logger'>,
  target: ConversationTarget,
): Promise<ConversationContext> {
  for (let tries = 0; tries < READ_TRIES; tries++) {
    const own = await readOwnConversation(dependencies, target);
    const conversation = own.conversation.value;
    const { conversationId } = target;
    const parts = await readContextParts(dependencies, { conversationId, conversation });
    if (conversation.generation === 0 || parts.history) return { ...own, ...parts };
  }
  throw new StoreUnavailableError({ operation: `context of ${target.conversationId}` });
}

/** The context object of what `readContext` found. */
export function toContextObject(
  dependencies: Pick<ChatDependencies, 'config' | 'clock' | 'sha256'>,
  context: ConversationContext,
  locale: string | undefined,
): ContextObject {
  return viewContext(dependencies, {
    ...context,
    conversation: context.conversation.value,
    locale,
  });
}
