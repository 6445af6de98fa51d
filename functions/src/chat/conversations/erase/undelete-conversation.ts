import type {
  CompactionRequests,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import { readContextParts } from '#shared/conversation/context/read-conversation.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { selectOutputForms } from '#functions/context/output-forms.ts';
import { changeConversation } from '../change-conversation.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { requestAfterChange } from '#functions/chat/context/request-after-change.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { publishRequest } from '#functions/events/publish-request.ts';

/** What was asked for when it went into the bin was dropped there; the context asks again. */
async function dueRequest(
  dependencies: ChatDependencies,
  conversationId: string,
  conversation: Conversation,
): Promise<CompactionRequests['auto']> {
  const { history, turns } = await readContextParts(dependencies, { conversationId, conversation });
  const { tokens } = contextTokens(
    { conversation, history, turns },
    selectOutputForms(dependencies, conversation),
  );
  return requestAfterChange(dependencies, { conversation, history, tokens });
}

/**
 * Takes a conversation out of the bin, as it was when it was put there. Live already → the same again.
 * Throws NOT_FOUND, also for one that is being erased.
 */
export async function undeleteConversation(
  dependencies: ChatDependencies,
  input: { caller: Caller; conversationId: string },
): Promise<Conversation> {
  const target = { ...input, states: ['live', 'deleted'] as const };
  const conversation = await changeConversation<Conversation>(
    dependencies,
    target,
    async ({ conversation: { value } }) => {
      if (value.state === 'live') return { result: value };
      const { deleteTime: _deleteTime, purgeTime: _purgeTime, ...kept } = value;
      const updateTime = dependencies.clock.now();
      const auto = await dueRequest(dependencies, input.conversationId, value);
      const compactionRequests = auto ? { auto } : {};
      return {
        fields: {
          state: 'live',
          updateTime,
          compactionRequests: auto ? { auto: { ...auto } } : {},
        },
        remove: ['deleteTime', 'purgeTime'],
        result: { ...kept, state: 'live', updateTime, compactionRequests },
      };
    },
  );
  await passCrashPoint(dependencies, 'conversation-undeleted');
  const { auto } = conversation.compactionRequests;
  if (auto) {
    const { conversationId } = input;
    const { requestId, trigger } = auto;
    await publishRequest(dependencies, { conversationId, requestId, trigger });
  }
  return conversation;
}
