import type { Head } from '../../../shared/conversation/head.ts';
import { readHead } from '../../../shared/conversation/read-conversation.ts';
import type { ChatDependencies } from './chat-dependencies.ts';

/**
 * Whether a crossing that was measured with the head of the start still holds at the end of the turn. A
 * swap that came in between has made room, and a request that came in between is request enough: then
 * this turn asks for nothing, and the next one measures the context as it is. One read, and only by turns
 * that crossed.
 */
export async function isStillNeeded(
  { store }: Pick<ChatDependencies, 'store'>,
  conversationId: string,
  head: Pick<Head, 'generation'>,
): Promise<boolean> {
  const found = await readHead(store, conversationId).catch(() => undefined);
  // Unknown: a request too many ends as NOOP, one too few would be missed.
  if (!found) return true;
  const { generation, compactionNeeded } = found.value;
  return generation === head.generation && !compactionNeeded.auto && !compactionNeeded.manual;
}
