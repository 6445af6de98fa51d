import type { ChatDependencies } from './chat-dependencies.ts';

/**
 * Tells the workers to look at a conversation. Only a hint: the need stands in the head, so a publish
 * that fails is logged and nothing else.
 */
export async function publishRequest(
  dependencies: Pick<ChatDependencies, 'publisher' | 'logger'>,
  request: { conversationId: string; requestId: string },
): Promise<void> {
  try {
    await dependencies.publisher.publish({
      topic: 'compaction',
      data: { schemaVersion: 1, ...request },
    });
  } catch (error) {
    dependencies.logger.log('WARNING', 'compaction_publish_failed', {
      ...request,
      error: error instanceof Error ? error.name : 'unknown',
    });
  }
}
