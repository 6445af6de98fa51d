import { eraseEvent } from '../../../../shared/compaction/event.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/**
 * Tells the workers to erase a conversation that is marked as erasing. Only a hint: the mark stands in the
 * head and the sweep finds it, so a publish that fails is logged and nothing else.
 */
export async function publishErase(
  dependencies: Pick<ChatDependencies, 'publisher' | 'logger'>,
  conversationId: string,
): Promise<void> {
  try {
    await dependencies.publisher.publish({
      topic: 'compaction',
      data: eraseEvent({ conversationId }),
    });
  } catch (error) {
    dependencies.logger.log('WARNING', 'erase_publish_failed', {
      conversationId,
      error: error instanceof Error ? error.name : 'unknown',
    });
  }
}
