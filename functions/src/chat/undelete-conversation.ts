import type { Head } from '../../../shared/conversation/head.ts';
import type { Caller } from '../../../shared/ports.ts';
import { changeHead } from './change-head.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import { passLifecyclePoint } from './lifecycle-crash-points.ts';

/**
 * Takes a conversation out of the bin, as it was when it was put there. Live already → the same again.
 * Throws NOT_FOUND, also for one that is being erased.
 */
export async function undeleteConversation(
  dependencies: ChatDependencies,
  of: { caller: Caller; conversationId: string },
): Promise<Head> {
  const target = { ...of, states: ['live', 'deleted'] as const };
  const head = await changeHead<Head>(dependencies, target, ({ head: { value } }) => {
    if (value.state === 'live') return { result: value };
    const { deleteTime: _deleteTime, purgeTime: _purgeTime, ...kept } = value;
    const updateTime = dependencies.clock.now();
    return {
      fields: { state: 'live', updateTime },
      remove: ['deleteTime', 'purgeTime'],
      result: { ...kept, state: 'live', updateTime },
    };
  });
  await passLifecyclePoint(dependencies, 'conversation-undeleted');
  return head;
}
