import type { CompactionNeeded, Head } from '#shared/conversation/documents/head.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import { readContextParts } from '#shared/conversation/context/read-conversation.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { selectOutputForms } from '#functions/context/snapshot-rendering.ts';
import { changeHead } from '../change-head.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { needAfterChange } from '#functions/chat/context/need-after-change.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { publishRequest } from '#functions/events/publish-request.ts';

/** What was asked for when it went into the bin was dropped there; the context asks again. */
async function dueNeed(
  dependencies: ChatDependencies,
  conversationId: string,
  head: Head,
): Promise<CompactionNeeded['auto']> {
  const { history, turns } = await readContextParts(dependencies, { conversationId, head });
  const { tokens } = contextTokens({ head, history, turns }, selectOutputForms(dependencies, head));
  return needAfterChange(dependencies, { head, history, tokens });
}

/**
 * Takes a conversation out of the bin, as it was when it was put there. Live already → the same again.
 * Throws NOT_FOUND, also for one that is being erased.
 */
export async function undeleteConversation(
  dependencies: ChatDependencies,
  input: { caller: Caller; conversationId: string },
): Promise<Head> {
  const target = { ...input, states: ['live', 'deleted'] as const };
  const head = await changeHead<Head>(dependencies, target, async ({ head: { value } }) => {
    if (value.state === 'live') return { result: value };
    const { deleteTime: _deleteTime, purgeTime: _purgeTime, ...kept } = value;
    const updateTime = dependencies.clock.now();
    const auto = await dueNeed(dependencies, input.conversationId, value);
    const compactionNeeded = auto ? { auto } : {};
    return {
      fields: { state: 'live', updateTime, compactionNeeded: auto ? { auto: { ...auto } } : {} },
      remove: ['deleteTime', 'purgeTime'],
      result: { ...kept, state: 'live', updateTime, compactionNeeded },
    };
  });
  await passCrashPoint(dependencies, 'conversation-undeleted');
  const { auto } = head.compactionNeeded;
  if (auto) {
    const { conversationId } = input;
    const { requestId, trigger } = auto;
    await publishRequest(dependencies, { conversationId, requestId, trigger });
  }
  return head;
}
