import { decodeHead, type Head, type Versioned } from '../../../shared/conversation/head.ts';
import { decodeJob, type CompactionJob } from '../../../shared/conversation/job.ts';
import { compactionJobPath, headPath } from '../../../shared/conversation/paths.ts';
import type { Caller } from '../../../shared/ports.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import { notFoundError } from './not-found.ts';

export interface OwnConversation {
  conversationId: string;
  head: Versioned<Head>;
  job: CompactionJob | undefined;
}

/** Whether `caller` may know of a conversation. */
export const isOwn = (head: Head, caller: Caller) =>
  head.state === 'live' && head.ownerUid === caller.uid;

/**
 * Head and compaction job of the caller's own live conversation, in one read. Throws NOT_FOUND, with the
 * same body whether the conversation is unknown, deleted or another user's.
 */
export async function readOwnConversation(
  { store }: Pick<ChatDependencies, 'store'>,
  { caller, conversationId }: { caller: Caller; conversationId: string },
): Promise<OwnConversation> {
  const [headDocument, jobDocument] = await store.get([
    headPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  const head = headDocument && decodeHead(headDocument);
  if (!head || !isOwn(head.value, caller)) throw notFoundError(conversationId);
  return { conversationId, head, job: jobDocument && decodeJob(jobDocument).value };
}
