import { decodeHead, type Head, type Versioned } from '#shared/conversation/documents/head.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath, headPath } from '#shared/conversation/documents/paths.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { notFoundError } from '../not-found.ts';

export interface OwnConversation {
  conversationId: string;
  head: Versioned<Head>;
  job: CompactionJob | undefined;
  /** Guards a change of `job`. */
  jobUpdateTime: string | undefined;
}

/** Whether `caller` may know of a conversation. */
export const isOwn = (head: Head, caller: Caller) =>
  head.state === 'live' && head.ownerUid === caller.uid;

export interface OwnTarget {
  caller: Caller;
  conversationId: string;
  /** In which states it may be; default: live. */
  states?: readonly Head['state'][];
}

/**
 * Head and compaction job of the caller's own conversation, live unless said otherwise, in one read. Throws NOT_FOUND, with the
 * same body whether the conversation is unknown, deleted or another user's.
 */
export async function readOwnConversation(
  { store }: Pick<ChatDependencies, 'store'>,
  { caller, conversationId, states = ['live'] }: OwnTarget,
): Promise<OwnConversation> {
  const [headDocument, jobDocument] = await store.get([
    headPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  const head = headDocument && decodeHead(headDocument);
  const isTheirs = head?.value.ownerUid === caller.uid && states.includes(head.value.state);
  if (!head || !isTheirs) throw notFoundError(conversationId);
  return {
    conversationId,
    head,
    job: jobDocument && decodeJob(jobDocument).value,
    jobUpdateTime: jobDocument?.updateTime,
  };
}
