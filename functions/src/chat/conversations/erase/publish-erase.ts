import { eraseEvent } from '#shared/compaction/decisions/event.ts';
import { publishBestEffort } from '#functions/events/publish-best-effort.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** Tells the workers to erase a conversation that is marked as erasing. Only a hint: the head says so. */
export async function publishErase(
  dependencies: Pick<ChatDependencies, 'publisher' | 'logger'>,
  conversationId: string,
): Promise<void> {
  const event = eraseEvent({ conversationId });
  await publishBestEffort(dependencies, { event, failure: 'erase_publish_failed', conversationId });
}
